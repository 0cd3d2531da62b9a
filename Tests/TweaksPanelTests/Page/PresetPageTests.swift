// Tests presets, and the export and import of settings as a file.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct PresetPageTests {
    @Test func presetsAreSavedComparedSwappedLoadedAndDeleted() throws {
        let (warm, error) = ("[data-preset=warm]", "document.querySelector('#pane .error')")
        try PanelHost.visit(expecting: [PanelView.refused(400)]) { host, page in
            try host.set("Whole", "72")
            try page.open("presets", until: "document.querySelector('[data-part=preset-name]') != null")
            try page.type("warm", over: page.browser.element("[data-part=preset-name]"), then: [.enter])
            try page.wait("document.querySelector('\(warm)') != null")
            try host.set("Whole", "20")
            try page.press(button: "Compare", in: warm)
            try page.wait("document.querySelector('#pane table')?.textContent.includes('Kinds/Basic/Whole2072')")
            #expect(host.value("Whole") == .int(20))
            try page.press(button: "Swap", in: warm, sets: "Whole", to: .int(72))
            try page.wait("said().includes('Swapped')")
            // A second swap goes back.
            try page.press(button: "Swap", in: warm, sets: "Whole", to: .int(20))
            try page.wait("field('Whole') === '20'")
            try page.press(button: "Load", in: warm, sets: "Whole", to: .int(72))
            try page.wait("said().includes('Loaded')")
            // Deleting needs a confirmation.
            try page.press(button: "Delete", in: warm)
            try page.press(button: "Delete permanently?", in: warm)
            try page.wait("document.querySelector('\(warm)') == null")
            try page.wait("byID('pane').textContent.includes('No presets')")
            try page.keys(.escape)
            try page.wait("!byID('drawer').open")
            try page.checkConsole()
            // An invalid name is refused.
            try page.open("presets", until: "document.querySelector('[data-part=preset-name]') != null")
            try page.type("../etc/passwd", over: page.browser.element("[data-part=preset-name]"))
            try page.browser.element("[data-part=preset-save]").click()
            try page.wait("isShown(\(error)) && \(error).textContent.includes('passwd')")
        }
    }

    /// Previews the changes of a text.
    private func check(_ text: PageValue, _ page: PanelView) throws {
        let area = try page.browser.element("[data-part=import-text]")
        try page.browser.run("arguments[0].value = arguments[1]", area.value, text)
        try page.browser.element("[data-part=import-check]").click()
    }

    @Test func linesAreExportedPreviewedAndImportedAtOnce() throws {
        try PanelHost.visit(expecting: [PanelView.refused(400)]) { host, page in
            for (name, text) in [("Whole", "72"), ("Text", "\"two words\"")] { try host.set(name, text) }
            try page.open("import", until: "named('Save as file', '#pane') != null")
            let text = try page.ask("(await asPage('/api/export')).text()").string ?? ""
            #expect(text.contains("Kinds/Basic/Whole = 72\n"), "\(text)")
            #expect(!text.contains("Password"))
            let revision = host.registry.revision
            try check("Kinds/Basic/Whole = 11\nKinds/Basic/Side = right", page)
            try page.wait("document.querySelector('#pane table')?.textContent.includes('7211')")
            #expect(host.registry.revision == revision)
            try page.browser.element("[data-part=import-apply]").click()
            try host.wait("Whole", .int(11))
            #expect(host.value("Side") == .choice("right"))
            // One undo takes both back.
            try page.wait("!byID('drawer').open")
            try page.step("undo", sets: "Whole", to: .int(72))
            #expect(host.value("Side") == .choice("left"))
            // An error in one line refuses all.
            try page.open("import", until: "named('Save as file', '#pane') != null")
            try check("Kinds/Basic/Whole = 12\nKinds/Basic/Count = many", page)
            try page.wait("document.querySelector('#pane .error')?.textContent.includes('line 2')")
            #expect(host.value("Whole") == .int(72))
        }
    }

    @Test func anExportIsSavedAsAFile() throws {
        let directory = try TemporaryDirectory()
        try PanelHost.visit(at: "/Other") { host, page in
            for (name, text) in [("Whole", "72"), ("Other/Far/Distance", "8")] { try host.set(name, text) }
            try page.open("import", until: "named('Save as file', '#pane') != null")
            /// The file, after a click on these boxes.
            func save(_ boxes: String...) throws -> String {
                for box in boxes { try page.browser.element("[data-part=export-\(box)]").click() }
                try page.browser.saveFile(in: directory.path) { try page.press(button: "Save as file", in: "#pane") }
                let path = directory.file("example.conf")
                defer { try? FileManager.default.removeItem(atPath: path) }
                return try String(contentsOfFile: path, encoding: .utf8)
            }
            #expect(try save() == "Kinds/Basic/Whole = 72\nOther/Far/Distance = 8\n")
            try page.attachPictures("panel-export")
            for (box, pattern) in [("modified", ""), ("category", "?pattern=Other")] {
                let text = try save(box)
                #expect(text.contains("Other/Far/Distance = 8\nOther/Far/Workers = 4\n"))
                #expect(text.contains("Kinds/Basic/Whole = 72\n") == pattern.isEmpty)
                let sent = try page.ask("(await asPage('/api/export' + given[0])).text()", .string(pattern))
                #expect(sent == .string(text))
            }
            #expect(try save("modified") == "Other/Far/Distance = 8\n")
            #expect(try page.browser.address == "\(host.origin)/#/Other")
        }
    }

    @Test func aFileIsPreviewedBeforeItIsImported() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("look.conf")
        try "# a look\nKinds/Basic/Whole = 11\n".write(toFile: path, atomically: true, encoding: .utf8)
        try PanelHost.visit { host, page in
            try page.open("import", until: "document.querySelector('#pane [type=file]') != null")
            try page.browser.element("#pane [type=file]").choose(path)
            try page.wait("document.querySelector('#pane table')?.textContent.includes('5011')")
            #expect(host.value("Whole") == .int(50))
            // Edited text has to be previewed again.
            try page.type("Kinds/Basic/Whole = 12", over: page.browser.element("[data-part=import-text]"))
            try page.wait("document.querySelector('[data-part=import-apply]') == null")
            try page.browser.element("[data-part=import-check]").click()
            try page.wait("document.querySelector('#pane table')?.textContent.includes('5012')")
            try page.browser.element("[data-part=import-apply]").click()
            try host.wait("Whole", .int(12))
        }
    }
}
