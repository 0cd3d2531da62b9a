// Tests what the page shows for a while: defaults and presets while a key is held, and earlier times of the history.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct ComparePageTests {
    /// Presses or releases the key left of 1.
    private func key(_ name: String, shift: Bool = false, _ page: PanelView) throws {
        let event = "new KeyboardEvent(arguments[0], {code: 'Backquote', shiftKey: arguments[1], bubbles: true})"
        try page.browser.run("dispatchEvent(\(event))", .string(name), .bool(shift))
    }

    private static let status =
        "(document.getElementById('compared')?.hidden ? '' : byID('compared')?.textContent ?? '')"

    @Test func aHeldKeyShowsDefaultsInTheProcess() throws {
        try PanelHost.visit { host, page in
            try host.set("Whole", "72")
            try page.wait("field('Whole') === '72'")
            try key("keydown", page)
            try host.wait("Whole", .int(50))
            try page.wait("text('Whole', 'preview') === 'shows 50' && field('Whole') === '72'")
            try page.wait("\(Self.status) === 'Without overrides: 1 tweak differs, shown in example'")
            // Nothing is set, and nothing is to be undone.
            #expect(try host.connect().ask("export --modified")[0] == "Kinds/Basic/Whole = 72")
            try key("keyup", page)
            try host.wait("Whole", .int(72))
            try page.wait("!isShown(part('Whole', 'preview')) && \(Self.status) === '' && field('Whole') === '72'")
            #expect(host.registry.history(last: 5).count == 1)
        }
    }

    @Test func aKeyThatIsReleasedAtOnceLeavesNothing() throws {
        try PanelHost.visit { host, page in
            try host.set("Whole", "72")
            try page.wait("field('Whole') === '72'")
            for name in ["keydown", "keyup", "keydown", "keyup"] { try key(name, page) }
            try page.wait("\(Self.status) === ''")
            // What was sent has been answered, in order.
            try page.wait("(await asPage('/api/history')).ok")
            try host.wait("Whole", .int(72))
            try page.wait("!isShown(part('Whole', 'preview'))")
            #expect(host.registry.preview == nil || host.value("Whole") == .int(72))
        }
    }

    @Test func aWindowThatLosesTheKeyboardEndsIt() throws {
        try PanelHost.visit { host, page in
            try host.set("Whole", "72")
            try page.wait("field('Whole') === '72'")
            try key("keydown", page)
            try host.wait("Whole", .int(50))
            try page.browser.run("dispatchEvent(new Event('blur'))")
            try host.wait("Whole", .int(72))
        }
    }

    @Test func otherWindowsSeeBothValues() throws {
        try PanelHost.visit { host, page in
            try host.visit { other in
                try host.set("Whole", "72")
                try page.wait("field('Whole') === '72'")
                try key("keydown", page)
                try other.wait("text('Whole', 'preview') === 'shows 50' && field('Whole') === '72'")
                // A page that is loaded meanwhile does, too.
                try other.browser.reload()
                try other.waitUntilConnected()
                try other.wait("text('Whole', 'preview') === 'shows 50' && field('Whole') === '72'")
                // What a client sets is in effect, and ends it.
                try other.type("80", over: "Whole", then: .enter, sets: .int(80))
                try page.wait("field('Whole') === '80' && \(Self.status) === ''")
                try page.wait("!isShown(part('Whole', 'preview'))")
                #expect(host.value("Whole") == .int(80))
            }
        }
    }

    @Test func aProgramWithoutPreviewsIsComparedByNumbers() throws {
        let host = try PanelHost(previews: false)
        try host.visit { page in
            try host.set("Whole", "72")
            try page.wait("field('Whole') === '72'")
            let revision = host.registry.revision
            try key("keydown", page)
            try page.wait("text('Whole', 'preview') === 'shows 50'")
            try page.wait("\(Self.status).endsWith('beside the rows: the program allows no previews')")
            #expect(host.value("Whole") == .int(72))
            try key("keyup", page)
            try page.wait("!isShown(part('Whole', 'preview'))")
            #expect(host.registry.revision == revision)
        }
    }

    @Test func aPresetSaysWhatItWouldDoAndIsShown() throws {
        try PanelHost.visit { host, page in
            try host.set("Whole", "72")
            try #require(try host.connect().ask("save warm").last?.hasPrefix("ok") == true)
            try host.set("Whole", "20")
            try host.set("Count", "11")
            try page.wait("field('Whole') === '20' && field('Count') === '11'")
            try key("keydown", shift: true, page)
            try page.waitUntilSaid("Choose a preset to compare with")
            try key("keyup", page)
            let effects = "document.querySelector('[data-part=preset-effects]')?.textContent"
            try page.open("presets", until: "\(effects) === 'Load changes 1; Swap also resets 1'")
            try page.browser.element("[data-part=preset-choice]").click()
            try page.wait("document.querySelector('[data-part=preset-choice]').ariaPressed === 'true'")
            try key("keydown", shift: true, page)
            try host.wait("Whole", .int(72))
            #expect(host.value("Count") == .int(11))
            try page.wait("\(Self.status).startsWith('Preset warm: 1 tweak differs')")
            try key("keyup", page)
            try host.wait("Whole", .int(20))
        }
    }

    @Test func theHistoryIsScrubbedAndRestored() throws {
        let slider = "document.querySelector('[data-part=scrubber]')"
        try PanelHost.visit { host, page in
            try page.type("10", over: "Whole", then: .enter, sets: .int(10))
            try page.type("11", over: "Count", then: .enter, sets: .int(11))
            try page.type("30", over: "Whole", then: .enter, sets: .int(30))
            try page.open("history", until: "\(slider)?.max === '3'")
            func move(_ position: Int) throws {
                try page.browser.run(
                    "const s = \(slider); s.value = arguments[0]; s.dispatchEvent(new Event('input'))",
                    .string("\(position)"))
            }
            try move(1)
            try host.wait("Whole", .int(10))
            #expect(host.value("Count") == .int(10))
            try move(0)
            try host.wait("Whole", .int(50))
            try page.wait("byID('pane').textContent.includes('before all of these: 2 tweaks differ')")
            try page.browser.run("\(slider).dispatchEvent(new Event('pointerup'))")
            try host.wait("Whole", .int(30))
            try page.wait("\(slider).value === '0'")
            try page.press(button: "Restore these", in: "#pane")
            try host.wait("Whole", .int(50))
            try host.wait("Count", .int(10))
            try page.wait("\(slider)?.max === '4'")
            // A change sets its own values again: the newest first, which is in force.
            try page.wait("document.querySelectorAll('#pane [data-part=restore]').length === 3")
            try page.browser.run("document.querySelectorAll('#pane [data-part=restore]')[1].click()")
            try host.wait("Count", .int(11))
            #expect(host.value("Whole") == .int(50))
        }
    }

    @Test(arguments: [("input", false), ("range", true)]) func theKeyIsTypedInATextAndNotInASlider(
        kind: String, compares: Bool
    ) throws {
        try PanelHost.visit { host, page in
            try host.set("Whole", "72")
            try page.wait("field('Whole') === '72'")
            let place = kind == "range" ? "row('Whole').querySelector('input[type=range]')" : "part('Text', 'field')"
            let event = "new KeyboardEvent('keydown', {code: 'Backquote', bubbles: true, cancelable: true})"
            let isTaken = try page.ask("!\(place).dispatchEvent(\(event))")
            #expect(isTaken.bool == compares)
            try key("keyup", page)
            try host.wait("Whole", .int(72))
        }
    }
}
