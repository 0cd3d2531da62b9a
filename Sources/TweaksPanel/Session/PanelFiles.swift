// Lists the panel's embedded files, each with its name and its bytes.

import CTweaksPanelFiles

/// The files that the target CTweaksPanelFiles embeds.
package enum PanelFiles {
    /// Every file by its name, such as `openapi.json` or `page/main.js`, in the order of the table.
    package static let all: [(name: String, bytes: [UInt8])] = {
        let files = UnsafeBufferPointer(start: tweaks_panel_files(), count: tweaks_panel_files_count())
        return files.map { (String(cString: $0.name), Array(String(cString: $0.text).utf8)) }
    }()

    /// The description of the HTTP API: OpenAPI 3.1.
    package static let openAPI = all.first { $0.name == "openapi.json" }?.bytes ?? []

    /// The page at addresses that have no panel.
    package static let notice = all.first { $0.name == "notice.html" }?.bytes ?? []
}
