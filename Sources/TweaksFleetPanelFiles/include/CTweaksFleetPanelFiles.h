// Declares the files that the page of a fleet adds to the panel, which are embedded in the binary and served unchanged.

#pragma once

#include <stddef.h>

/// An embedded file; the memory is static.
struct tweaks_fleet_panel_file {
    /// The path below this target's directory, such as `page/fleet/main.js`.
    const char *name;
    /// The text, zero-terminated.
    const char *text;
};

/// All embedded files.
const struct tweaks_fleet_panel_file *tweaks_fleet_panel_files(void);

/// The number of embedded files.
size_t tweaks_fleet_panel_files_count(void);
