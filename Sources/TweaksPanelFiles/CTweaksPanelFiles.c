// Embeds the panel's files by #embed (C23): the compiler copies bytes, where an array literal of Swift, which is what
// .embedInCode makes, takes it half a minute to check.

#include "CTweaksPanelFiles.h"

static const unsigned char page[] = {
#embed "panel.html"
};

static const unsigned char openapi[] = {
#embed "openapi.json"
};

struct tweaks_panel_file tweaks_panel_page(void) { return (struct tweaks_panel_file){page, sizeof page}; }

struct tweaks_panel_file tweaks_panel_openapi(void) { return (struct tweaks_panel_file){openapi, sizeof openapi}; }
