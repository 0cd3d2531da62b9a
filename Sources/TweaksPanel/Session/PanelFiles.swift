// The panel's embedded files as bytes.

import CTweaksPanelFiles

/// What the target CTweaksPanelFiles embeds, each file read once.
package enum PanelFiles {
    /// The page: HTML, styles and scripts.
    package static let page = bytes(tweaks_panel_page())

    /// The description of the HTTP API: OpenAPI 3.1.
    package static let openAPI = bytes(tweaks_panel_openapi())

    private static func bytes(_ file: tweaks_panel_file) -> [UInt8] {
        Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
