// The files that the panel serves as they are, embedded in the binary.

#pragma once

#include <stddef.h>

/// An embedded file; its bytes live as long as the process.
struct tweaks_panel_file {
    const unsigned char *bytes;
    size_t count;
};

/// The page: HTML, styles and scripts.
struct tweaks_panel_file tweaks_panel_page(void);

/// The description of the HTTP API: OpenAPI 3.1.
struct tweaks_panel_file tweaks_panel_openapi(void);
