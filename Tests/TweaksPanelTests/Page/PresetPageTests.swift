// Presets, and settings as a file: saved, compared, loaded, swapped, deleted; nothing changes unseen.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct PresetPageTests {
    @Test func presets() throws {
        let host = try PanelHost()
        let warm = "[data-preset=warm]"
        try host.visit { page in
            try host.set("Whole", "72")
            try page.element("presets").click()
            try page.wait("document.querySelector('[data-part=preset-name]') != null")
            try page.type("warm", over: page.browser.element("[data-part=preset-name]"), then: [.enter])
            try page.wait("document.querySelector('\(warm)') != null")
            try host.set("Whole", "20")
            try page.press(button: "Compare", in: warm)
            try page.wait("document.querySelector('#pane table')?.textContent.includes('Kinds/Basic/Whole2072')")
            #expect(host.value("Whole") == .int(20))
            try page.press(button: "Swap", in: warm)
            try host.wait("Whole", .int(72))
            try page.wait("said().includes('Swapped')")
            // And back to what was.
            try page.press(button: "Swap", in: warm)
            try host.wait("Whole", .int(20))
            try page.wait("field('Whole') === '20'")
            try page.press(button: "Load", in: warm)
            try host.wait("Whole", .int(72))
            // Not by one click.
            try page.wait("said().includes('Loaded')")
            try page.press(button: "Delete", in: warm)
            try page.press(button: "Delete for good?", in: warm)
            try page.wait("document.querySelector('\(warm)') == null")
            try page.wait("document.getElementById('pane').textContent.includes('No presets')")
            // Escape leads out.
            try page.browser.perform(.keys(.escape))
            try page.wait("!document.getElementById('drawer').open")
        }
    }

    @Test func badNamesAreRefused() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(400)]) { page in
            try page.element("presets").click()
            try page.wait("document.querySelector('[data-part=preset-name]') != null")
            try page.type("../etc/passwd", over: page.browser.element("[data-part=preset-name]"))
            try page.browser.element("[data-part=preset-save]").click()
            try page.wait(
                "isShown(document.querySelector('#pane .error')) && document.querySelector('#pane .error').textContent.includes('passwd')"
            )
        }
    }

    @Test func exportAndImport() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(400)]) { page in
            try host.set("Whole", "72")
            try host.set("Text", "\"two words\"")
            try page.element("import").click()
            try page.wait("named('Everything', '#pane') != null")
            let text = try page.ask("(await asPage('/api/export')).text()").string ?? ""
            #expect(text.contains("Kinds/Basic/Whole = 72\n"), "\(text)")
            #expect(!text.contains("Password"))
            let area = try page.browser.element("[data-part=import-text]")
            try page.browser.run(
                "arguments[0].value = arguments[1]", area.value, "Kinds/Basic/Whole = 11\nKinds/Basic/Side = right")
            let revision = host.registry.revision
            try page.browser.element("[data-part=import-check]").click()
            try page.wait("document.querySelector('#pane table')?.textContent.includes('7211')")
            #expect(host.registry.revision == revision)
            try page.browser.element("[data-part=import-apply]").click()
            try host.wait("Whole", .int(11))
            #expect(host.value("Side") == .choice("right"))
            // Both in one step.
            try page.wait("!document.getElementById('drawer').open")
            try page.step("undo")
            try host.wait("Whole", .int(72))
            #expect(host.value("Side") == .choice("left"))
            // All or nothing, and the line is named.
            try page.element("import").click()
            try page.wait("named('Everything', '#pane') != null")
            let again = try page.browser.element("[data-part=import-text]")
            try page.browser.run(
                "arguments[0].value = arguments[1]", again.value, "Kinds/Basic/Whole = 12\nKinds/Basic/Count = many")
            try page.browser.element("[data-part=import-check]").click()
            try page.wait("document.querySelector('#pane .error')?.textContent.includes('line 2')")
            #expect(host.value("Whole") == .int(72))
        }
    }

    /// By a click, as a file.
    @Test func exportsAreSaved() throws {
        let host = try PanelHost()
        let directory = try TemporaryDirectory()
        try host.visit(at: "/Other") { page in
            try host.set("Whole", "72")
            try host.set("Other/Far/Distance", "8")
            try page.element("import").click()
            try page.wait("named('Only Other', '#pane') != null")
            for (name, pattern) in [("Everything", ""), ("Only Other", "?pattern=Other")] {
                try page.browser.saveFile(in: directory.path) { try page.press(button: name, in: "#pane") }
                let path = directory.file("example.conf")
                let text = try String(contentsOfFile: path, encoding: .utf8)
                try FileManager.default.removeItem(atPath: path)
                #expect(text.contains("Other/Far/Distance = 8\n"))
                #expect(text.contains("Kinds/Basic/Whole = 72\n") == pattern.isEmpty)
                // The whole of it.
                let sent = try page.ask("(await asPage('/api/export' + given[0])).text()", .string(pattern))
                #expect(sent == .string(text))
            }
            #expect(try page.browser.address == "\(host.origin)/#/Other")
        }
    }

    @Test func filesAreLookedAtFirst() throws {
        let host = try PanelHost()
        let directory = try TemporaryDirectory()
        try "# a look\nKinds/Basic/Whole = 11\n".write(
            toFile: directory.file("look.conf"), atomically: true, encoding: .utf8)
        try host.visit { page in
            try page.element("import").click()
            try page.wait("document.querySelector('#pane [type=file]') != null")
            try page.browser.element("#pane [type=file]").choose(directory.file("look.conf"))
            try page.wait("document.querySelector('#pane table')?.textContent.includes('5011')")
            #expect(host.value("Whole") == .int(50))
            // What is typed over what was looked at has to be looked at, too.
            try page.type("Kinds/Basic/Whole = 12", over: page.browser.element("[data-part=import-text]"))
            try page.wait("document.querySelector('[data-part=import-apply]') == null")
            try page.browser.element("[data-part=import-check]").click()
            try page.wait("document.querySelector('#pane table')?.textContent.includes('5012')")
            try page.browser.element("[data-part=import-apply]").click()
            try host.wait("Whole", .int(12))
        }
    }
}
