// Undo, redo and history, in which a drag is one step.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .needsBrowser) struct UndoTests {
    private func drag(_ page: PanelView, _ name: String, x: Int) throws {
        let slider = try page.part(name, "slider")
        try page.browser.perform(
            .mouse(.move(to: slider), .press, .moveBy(x: x, y: 0, over: .milliseconds(400)), .release))
    }

    @Test func aDragIsOneStep() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.type("20", over: "Whole", then: .enter)
            try host.wait("Whole", .int(20))
            let before = host.registry.revision
            try drag(page, "Whole", x: 60)
            try page.wait("row('Whole').querySelector('[data-part=slider]').ariaValueText !== '20'")
            try host.wait("Whole") { value in if case .int(let now) = value { now > 55 } else { false } }
            try page.wait("field('Whole') !== '20'")
            // It came as many changes.
            try host.wait("Whole") { _ in host.registry.revision > before + 1 }
            try page.element("undo").click()
            try host.wait("Whole", .int(20))
            try page.wait("field('Whole') === '20'")
            try page.element("undo").click()
            try host.wait("Whole", .int(50))
        }
    }

    /// So is a run of one key that is held.
    @Test func aHeldKeyIsOneStep() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.focus("Whole", "slider")
            for type in ["rawKeyDown", "rawKeyDown", "rawKeyDown", "rawKeyDown", "keyUp"] {
                try page.browser.command(
                    "Input.dispatchKeyEvent",
                    ["type": .string(type), "key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39])
            }
            try host.wait("Whole", .int(54))
            try page.browser.perform(.keyboard([.press(.control), .character("z"), .release(.control)]))
            try host.wait("Whole", .int(50))
        }
    }

    @Test func escapeTakesADragBack() throws {
        let host = try PanelHost()
        try host.visit { page in
            let slider = try page.part("Whole", "slider")
            try page.browser.perform(
                .mouse(.move(to: slider), .press, .moveBy(x: 60, y: 0, over: .milliseconds(200))))
            try host.wait("Whole") { value in if case .int(let now) = value { now > 55 } else { false } }
            try page.browser.perform(.keys(.escape))
            try host.wait("Whole", .int(50))
            try page.wait("field('Whole') === '50'")
            // What the pointer still does is nothing.
            try page.browser.perform(.mouse(.moveBy(x: 20, y: 0, over: .milliseconds(100)), .release))
            try page.wait("field('Whole') === '50' && part('Whole', 'slider').ariaValueText === '50'")
            #expect(host.value("Whole") == .int(50))
            #expect(try page.ask("row('Whole').hasAttribute('data-modified')") == false)
        }
    }

    @Test func buttonsAndKeys() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.click("Bool", "switch")
            try host.wait("Bool", .bool(true))
            try page.element("undo").click()
            try host.wait("Bool", .bool(false))
            try page.element("redo").click()
            try host.wait("Bool", .bool(true))
            try page.browser.perform(.keyboard([.press(.control), .character("z"), .release(.control)]))
            try host.wait("Bool", .bool(false))
            try page.browser.perform(
                .keyboard([.press(.control), .press(.shift), .character("z"), .release(.shift), .release(.control)]))
            try host.wait("Bool", .bool(true))
            // In a field the keys are the field's.
            try page.type("abc", over: "Text")
            try page.browser.perform(.keyboard([.press(.control), .character("z"), .release(.control)]))
            #expect(host.value("Bool") == .bool(true))
        }
    }

    @Test func nothingToUndoIsSaid() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(409), PanelView.refused(422), PanelView.refused(400)]) { page in
            try page.element("undo").click()
            try page.wait("said().includes('undo')")
        }
    }

    /// Another's newer change of the same is not undone by accident.
    @Test func conflictsAreSaid() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(409)]) { page in
            try page.type("20", over: "Whole", then: .enter)
            try host.wait("Whole", .int(20))
            try host.set("Whole", "30")
            try page.wait("field('Whole') === '30'")
            try page.element("undo").click()
            // An admin may undo the other's, which is the last.
            try page.wait("field('Whole') === '20' || said().includes('Whole')")
        }
    }

    @Test func historySaysWhoAndWhen() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.type("20", over: "Whole", then: .enter)
            try host.wait("Whole", .int(20))
            try host.set("Text", "theirs")
            try page.element("history").click()
            try page.wait("document.querySelectorAll('#pane li').length === 2")
            let entries =
                try page.ask("[...document.querySelectorAll('#pane li')].map((li) => li.textContent)").array ?? []
            let texts = entries.compactMap(\.string)
            #expect(texts.first?.contains("uid") == true && texts.first?.contains("theirs") == true, "\(texts)")
            #expect(texts.last?.contains("token owner") == true && texts.last?.contains("20") == true, "\(texts)")
            #expect(texts.allSatisfy { $0.contains(":") })
            // From here, too.
            try page.press(button: "Undo", in: "#pane")
            try host.wait("Text", .string("Tweaks"))
            try page.wait("document.querySelector('#pane li.undone') != null")
            // A tweak's name leads to it.
            try page.browser.element("#pane li:last-child a").click()
            try page.wait("document.activeElement === row('Whole') && !document.getElementById('drawer').open")
        }
    }
}
