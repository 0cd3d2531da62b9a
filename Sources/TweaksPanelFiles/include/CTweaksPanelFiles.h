// The files that the panel serves as they are, embedded in the binary.

#pragma once

#include <stddef.h>

/// An embedded file, which lives as long as the process.
struct tweaks_panel_file {
    /// The path below this target's directory, such as `page/main.js`.
    const char *name;
    /// The text, which ends with a zero.
    const char *text;
};

/// Every file that is embedded.
const struct tweaks_panel_file *tweaks_panel_files(void);

/// How many there are.
size_t tweaks_panel_files_count(void);
