// Embeds the files that the page of a fleet adds to the panel, as the panel's own files are embedded.

#include "CTweaksFleetPanelFiles.h"

// The table of embedded files; embedded_file.h expands to one entry.
static const struct tweaks_fleet_panel_file files[] = {
#define FILE "page/fleet/fleet.css"
#include "embedded_file.h"
#define FILE "page/fleet/main.js"
#include "embedded_file.h"
#define FILE "page/fleet/chart.js"
#include "embedded_file.h"
#define FILE "page/fleet/dialog.js"
#include "embedded_file.h"
#define FILE "page/fleet/drafts.js"
#include "embedded_file.h"
#define FILE "page/fleet/log.js"
#include "embedded_file.h"
#define FILE "page/fleet/processes.js"
#include "embedded_file.h"
#define FILE "page/fleet/roll-out.js"
#include "embedded_file.h"
#define FILE "page/fleet/rollouts.js"
#include "embedded_file.h"
#define FILE "page/fleet/state.js"
#include "embedded_file.h"
#define FILE "page/fleet/write.js"
#include "embedded_file.h"
};

const struct tweaks_fleet_panel_file *tweaks_fleet_panel_files(void) { return files; }

size_t tweaks_fleet_panel_files_count(void) { return sizeof files / sizeof *files; }
