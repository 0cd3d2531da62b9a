// Undo, redo and history, in which a drag is one step.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct UndoTests {
    private func drag(_ page: PanelView, _ name: String, x: Double) throws {
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
            try page.step("undo")
            try host.wait("Whole", .int(20))
            try page.wait("field('Whole') === '20'")
            try page.step("undo")
            try host.wait("Whole", .int(50))
        }
    }

    /// Undo and redo can be pressed when there is something to undo or to redo, whoever has done it.
    @Test func whatCannotBeDoneIsGray() throws {
        let host = try PanelHost()
        let steps = "[document.getElementById('undo').disabled, document.getElementById('redo').disabled]"
        try host.visit { page in
            try page.wait("String(\(steps)) === 'true,true'")
            try page.type("20", over: "Whole", then: .enter)
            try page.wait("String(\(steps)) === 'false,true'")
            try page.step("undo")
            try page.wait("String(\(steps)) === 'true,false'")
            try page.step("redo")
            try page.wait("String(\(steps)) === 'false,true'")
            try page.step("undo")
            try page.wait("String(\(steps)) === 'true,false'")
            // Another change is the end of what could be done again.
            try host.set("Count", "11")
            try page.wait("String(\(steps)) === 'false,true'")
        }
    }

    /// How many people are here is known later than what stands beside that, which stays where it was.
    @Test func theNumberOfPeopleMovesNoButton() throws {
        try PanelHost().visit { page in
            let places = try ["", "1", "12"].map { text in
                try page.ask("document.querySelector('#people .count').textContent = given[0]", .string(text))
                return try page.element("undo").frame.x
            }
            #expect(Set(places).count == 1, "\(places)")
        }
    }

    /// Changes draw the history anew, but not under the pointer.
    @Test func aButtonThatIsHeldDownIsNotReplaced() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.type("60", over: "Whole", then: .enter)
            // With the count the history was drawn as well, had it been open.
            try page.wait("document.querySelector('#modified-only .count').textContent === '1'")
            try page.element("history").click()
            let undo = try page.button("Undo", in: "#pane")
            try page.browser.perform(.mouse(.move(to: undo), .press))
            try host.set("Count", "11")
            try page.wait(
                "performance.getEntriesByType('resource').filter((one) => one.name.includes('/api/history?count=100')).length === 2"
            )
            try page.browser.perform(.mouse(.release))
            try host.wait("Whole", .int(50))
            // What came meanwhile is shown then.
            try page.wait("document.querySelector('#pane li.undone') != null")
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

    /// And so are presses that follow each other: of a slider, a field, what stands side by side, a menu.
    @Test(arguments: [
        ("Whole", "slider", TweakValue.int(53), TweakValue.int(50)), ("Whole", "field", .int(53), .int(50)),
        ("Day", "select", .choice("thu"), .choice("mon")),
    ])
    func pressesThatFollowEachOtherAreOneStep(
        _ name: String, _ part: String, _ end: TweakValue, _ start: TweakValue
    ) throws {
        let host = try PanelHost()
        try host.visit { page in
            let key: Key = part == "select" ? .down : .up
            try page.press(name, part, key, key, key)
            // At once, before the pause that ends it: undo is about all of them.
            try page.browser.perform(.keys(.tab))
            try host.wait(name, end)
            try page.step("undo")
            try host.wait(name, start)
            try page.step("redo")
            try host.wait(name, end)
        }
    }

    @Test func pressesOnASegmentAreOneStep() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.browser.run(
                "arguments[0].focus()", page.browser.element(PanelView.selector("Side", "option")).value)
            try page.browser.perform(.keys(.right, .right))
            try page.browser.perform(.keyboard([.press(.control), .character("z"), .release(.control)]))
            try host.wait("Side", .choice("left"))
            try page.wait("row('Side').querySelector(':checked').value === 'left'")
            #expect(host.registry.history.count(where: { $0.kind == .change }) == 1)
            // What is pressed then is another step, from where the value is, and the mouse makes a step of each.
            try page.wait("document.activeElement.value === 'left'")
            try page.browser.perform(.keys(.right))
            try host.wait("Side", .choice("center"))
            try page.browser.element(PanelView.selector("Side") + " label:nth-child(3)").click()
            try host.wait("Side", .choice("right"))
            try page.step("undo")
            try host.wait("Side", .choice("center"))
            try page.step("undo")
            try host.wait("Side", .choice("left"))
        }
    }

    /// Typing right behind an arrow key is not overwritten by what the key did.
    @Test func typingBehindAKeyStays() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.press("Whole", "field", .up)
            try host.wait("Whole", .int(51))
            try page.type("7", over: "Whole")
            try page.wait("performance.now() > given[0]", page.ask("performance.now() + 900"))
            #expect(try page.ask("field('Whole')") == "7")
            try page.browser.perform(.keys(.enter))
            try host.wait("Whole", .int(7))
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
            try page.step("undo")
            try host.wait("Bool", .bool(false))
            try page.step("redo")
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

    /// Another's newer change of the same is not undone by accident.
    @Test func conflictsAreSaid() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(409)]) { page in
            try page.type("20", over: "Whole", then: .enter)
            try host.wait("Whole", .int(20))
            try host.set("Whole", "30")
            try page.wait("field('Whole') === '30'")
            try page.step("undo")
            try page.waitUntilSaid("Kinds/Basic/Whole has changed since, in revision 2 by uid")
            #expect(host.value("Whole") == .int(30))
        }
    }

    private static let partly = PanelHost.Guest(name: "partly", scopes: ["read:Kinds", "write:Kinds"])

    /// Somebody else has changed the same since, together with what one does not see: it is said who, and nothing happens.
    @Test func aConflictSaysWho() throws {
        let host = try PanelHost(guests: [Self.partly])
        try host.visit(as: Self.partly, expecting: [PanelView.refused(409)]) { page in
            try page.type("20", over: "Whole", then: .enter)
            try host.wait("Whole", .int(20))
            try host.registry.commit(origin: .user(77)) { batch in
                batch.set("Kinds/Basic/Whole", .int(30))
                batch.set("Other/Far/Distance", .int(8))
            }
            try page.wait("field('Whole') === '30'")
            try page.step("undo")
            try page.waitUntilSaid("changed since, in revision 2 by uid 77")
            #expect(host.value("Whole") == .int(30))
            // Force is not theirs.
            #expect(try page.ask("named('Force', '#toasts') == null") == true)
        }
    }

    /// Those who may, can go back all the same.
    @Test func aConflictCanBeForced() throws {
        let host = try PanelHost()
        let file = ConfigEntry(path: "Kinds/Basic/Whole", text: "30", line: 1, origin: TweakOrigin("a.conf:1"))
        try host.visit(expecting: [PanelView.refused(409)]) { page in
            try page.type("20", over: "Whole", then: .enter)
            try host.wait("Whole", .int(20))
            _ = host.registry.applyConfigFile([file], ConfigPolicy(fileWins: true))
            try page.wait("field('Whole') === '30'")
            try page.step("undo")
            try page.waitUntilSaid("Kinds/Basic/Whole has changed since, in revision 2 by")
            #expect(host.registry.history.contains { $0.isUndone } == false)
            try page.press(button: "Force", in: "#toasts")
            try page.waitUntilSaid("Undid Whole 50 → 20")
            #expect(host.registry.history.contains { $0.isUndone } && host.value("Whole") == .int(30))
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
            try host.wait("Whole", .int(50))
            try page.wait("document.querySelector('#pane li.undone') != null")
            // A tweak's name leads to it.
            try page.wait("document.querySelector('#pane li').textContent.includes('undo of their own change')")
            try page.browser.element("#pane li:last-child a").click()
            try page.wait("document.activeElement === row('Whole') && !document.getElementById('drawer').open")
        }
    }
}
