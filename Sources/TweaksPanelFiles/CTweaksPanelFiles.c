// Embeds the panel's files by #embed (C23), which copies bytes. SwiftPM's .embedInCode makes an array literal, whose
// type-checking takes a minute of CPU in every build.

#include "CTweaksPanelFiles.h"

static const unsigned char page[] = {
#embed "panel.html"
};

static const unsigned char openapi[] = {
#embed "openapi.json"
};

struct tweaks_panel_file tweaks_panel_page(void) { return (struct tweaks_panel_file){page, sizeof page}; }

struct tweaks_panel_file tweaks_panel_openapi(void) { return (struct tweaks_panel_file){openapi, sizeof openapi}; }
