// Tests undo, redo and the history; a drag is one step.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct UndoTests {
    @Test func aDragIsOneStepAndEscapeCancelsIt() throws {
        try PanelHost.visit { host, page in
            try page.type("20", over: "Whole", then: .enter, sets: .int(20))
            let before = host.registry.revision
            try page.drag("Whole", x: 60, over: 400)
            try page.wait("row('Whole').querySelector('[data-part=slider]').ariaValueText !== '20'")
            try host.wait("Whole") { value in if case .int(let now) = value { now > 55 } else { false } }
            try page.wait("field('Whole') !== '20'")
            // The drag sent several changes.
            try host.wait("Whole") { _ in host.registry.revision > before + 1 }
            try page.step("undo", sets: "Whole", to: .int(20))
            try page.wait("field('Whole') === '20'")
            try page.step("undo", sets: "Whole", to: .int(50))
            try page.wait("field('Whole') === '50'")
            try page.type("11", over: "Count", then: .enter, sets: .int(11))
            try page.drag("Whole", x: 60, isReleased: false)
            try host.wait("Whole") { value in if case .int(let now) = value { now > 55 } else { false } }
            try page.keys(.escape, sets: "Whole", to: .int(50))
            try page.wait("field('Whole') === '50'")
            // Further moves of the pointer do nothing.
            try page.browser.perform(.mouse(.moveBy(x: 20, y: 0, over: .milliseconds(100)), .release))
            try page.wait("field('Whole') === '50' && part('Whole', 'slider').ariaValueText === '50'")
            #expect(host.value("Whole") == .int(50))
            #expect(try page.ask("row('Whole').hasAttribute('data-modified')") == false)
            // The canceled drag left nothing to undo, so the change before it is.
            try page.browser.perform(.keyboard(PanelView.undoKeys))
            try host.wait("Count", .int(10))
            try page.waitUntilSaid("Undone: Count 11 → 10")
        }
    }

    @Test func undoAndRedoAreDisabledWhereImpossibleAndStayInPlace() throws {
        let steps = "[byID('undo').disabled, byID('redo').disabled]"
        try PanelHost.visit { host, page in
            try page.wait("String(\(steps)) === 'true,true'")
            try page.type("20", over: "Whole", then: .enter)
            try page.wait("String(\(steps)) === 'false,true'")
            for (step, isDisabled) in [("undo", "true,false"), ("redo", "false,true"), ("undo", "true,false")] {
                try page.step(step)
                try page.wait("String(\(steps)) === '\(isDisabled)'")
            }
            // Another change ends the redo.
            try host.set("Count", "11")
            try page.wait("String(\(steps)) === 'false,true'")
            // The number of people, which is known later, moves no button.
            let places = try ["", "1", "12"].map { text in
                try page.ask("document.querySelector('#people .count').textContent = given[0]", .string(text))
                return try page.element("undo").frame.x
            }
            #expect(Set(places).count == 1, "\(places)")
        }
    }

    @Test func aPressedButtonIsNotReplaced() throws {
        try PanelHost.visit { host, page in
            try page.type("60", over: "Whole", then: .enter)
            // The history is drawn no later than the count.
            try page.wait("document.querySelector('#modified-only .count').textContent === '1'")
            try page.element("history").click()
            // The change's event may draw the history once more.
            try page.retry("stale element reference") {
                let undo = try page.button("Undo", in: "#pane")
                try page.browser.perform(.mouse(.move(to: undo), .press))
            }
            try host.set("Count", "11")
            let isHistory = "({ name }) => name.includes('/api/history?count=100')"
            try page.wait("performance.getEntriesByType('resource').filter(\(isHistory)).length === 2")
            try page.browser.perform(.mouse(.release))
            try host.wait("Whole", .int(50))
            try page.wait("document.querySelector('#pane li.undone') != null")
        }
    }

    @Test(arguments: [
        ("Whole", "slider", TweakValue.int(53), TweakValue.int(50)), ("Whole", "field", .int(53), .int(50)),
        ("Day", "select", .choice("thu"), .choice("mon")),
    ])
    func consecutiveKeysAreOneStep(_ name: String, _ part: String, _ end: TweakValue, _ start: TweakValue) throws {
        try PanelHost.visit { host, page in
            let key: Key = part == "select" ? .down : .up
            // On a busy machine the pause between two keys may be longer than the one that ends a step.
            try page.replaceDelay(700)
            try page.press(name, part, key, key, key)
            try page.keys(.tab)
            try host.wait(name, end)
            try page.step("undo", sets: name, to: start)
            try page.step("redo", sets: name, to: end)
        }
    }

    @Test func consecutiveKeysOnSegmentsAndAHeldKeyAreOneStep() throws {
        try PanelHost.visit { host, page in
            try page.replaceDelay(700)
            try page.browser.run(
                "arguments[0].focus()", page.browser.element(PanelView.selector("Side", "option")).value)
            try page.keys(.right, .right)
            try page.browser.perform(.keyboard(PanelView.undoKeys))
            try host.wait("Side", .choice("left"))
            try page.wait("row('Side').querySelector(':checked').value === 'left'")
            #expect(host.registry.history.count(where: { $0.kind == .change }) == 1)
            // Further keys are another step; each click is a step.
            try page.wait("document.activeElement.value === 'left'")
            try page.keys(.right, sets: "Side", to: .choice("center"))
            try page.browser.element(PanelView.selector("Side") + " label:nth-child(3)").click()
            try host.wait("Side", .choice("right"))
            for choice in ["center", "left"] { try page.step("undo", sets: "Side", to: .choice(choice)) }
            // A held key.
            try page.focus("Whole", "slider")
            for type in ["rawKeyDown", "rawKeyDown", "rawKeyDown", "rawKeyDown", "keyUp"] {
                try page.browser.command(
                    "Input.dispatchKeyEvent",
                    ["type": .string(type), "key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39])
            }
            try host.wait("Whole", .int(54))
            try page.browser.perform(.keyboard(PanelView.undoKeys))
            try host.wait("Whole", .int(50))
        }
    }

    /// Else the process would undo an earlier change, and then make the later one.
    @Test func anUndoWaitsForOwnChangesAlsoWhileTheProcessIsSlowToAnswer() throws {
        try PanelHost.visit { host, page in
            try page.holdReplies(where: "path === '/api/tweaks'")
            try page.type("60", over: "Whole", then: .enter, sets: .int(60))
            try page.wait("window.held > 0")
            // It is sent after the reply to the first one.
            try page.type("70", over: page.part("Whole", "field"), then: [.enter])
            try page.browser.run(
                """
                document.activeElement.blur();
                document.documentElement.dataset.state = 'silent';
                dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true }));
                window.isOpen = true;
                """)
            try page.waitUntilSaid("Undone")
            try page.wait("!row('Whole').hasAttribute('data-pending')")
            // Two sets that follow each other at once are one step.
            #expect([.int(60), .int(50)].contains(host.value("Whole")))
        }
    }

    @Test func buttonsAndKeysUndoExceptInAField() throws {
        try PanelHost.visit { host, page in
            // Text typed after an arrow key stays.
            try page.press("Whole", "field", .up, sets: .int(51))
            try page.type("7", over: "Whole")
            try page.wait("performance.now() > given[0]", page.ask("performance.now() + 900"))
            #expect(try page.ask("field('Whole')") == "7")
            try page.keys(.enter, sets: "Whole", to: .int(7))
            try page.click("Bool", "switch", sets: .bool(true))
            try page.step("undo", sets: "Bool", to: .bool(false))
            try page.step("redo", sets: "Bool", to: .bool(true))
            try page.browser.perform(.keyboard(PanelView.undoKeys))
            try host.wait("Bool", .bool(false))
            try page.browser.perform(.keyboard(PanelView.redoKeys))
            try host.wait("Bool", .bool(true))
            // In a field the keys apply to its text.
            try page.type("abc", over: "Text")
            try page.browser.perform(.keyboard(PanelView.undoKeys))
            #expect(host.value("Bool") == .bool(true))
        }
    }

    /// The browser would write the text before back into the field, and nothing would send that.
    @Test func theKeysOfUndoAreThePanelsInAFieldWithoutTypedText() throws {
        try PanelHost.visit { host, page in
            let shows = "field('Whole') === given[0] && part('Whole', 'slider').ariaValueText === given[0]"
            try page.type("33", over: "Whole", then: .enter, sets: .int(33))
            try page.wait("!row('Whole').row.sender.isBusy")
            try page.browser.perform(.keyboard(PanelView.undoKeys))
            try host.wait("Whole", .int(50))
            try page.wait(shows, "50")
            try page.expect("document.activeElement === part('Whole', 'field')")
            try page.browser.perform(.keyboard(PanelView.redoKeys))
            try host.wait("Whole", .int(33))
            try page.wait(shows, "33")
            // A menu of the browser.
            try page.ask(
                """
                document.activeElement.dispatchEvent(new InputEvent('beforeinput',
                    { inputType: 'historyUndo', bubbles: true, cancelable: true }))
                """)
            try host.wait("Whole", .int(50))
            try page.wait(shows, "50")
            try page.browser.element("#process").click()
            try page.wait("document.activeElement !== part('Whole', 'field')")
            let revision = host.registry.revision
            try host.set("Whole", "40")
            try page.wait(shows, "40")
            #expect(host.registry.revision == revision + 1)
        }
    }

    @Test func typedTextIsSentWhenItsFieldIsLeftAlsoIfItIsTheOneBefore() throws {
        try PanelHost.visit { host, page in
            try page.type("33", over: "Whole", then: .enter, sets: .int(33))
            try page.type("50", over: "Whole")
            try page.browser.run("document.activeElement.blur()")
            try host.wait("Whole", .int(50))
        }
    }

    @Test func theBrowserUndoesARefusedText() throws {
        try PanelHost.visit(expecting: [PanelView.refused(400)]) { host, page in
            try page.type("20", over: "Whole", then: .enter, sets: .int(20))
            try page.type("many", over: "Whole", then: .enter)
            _ = try page.error("Whole")
            try page.browser.perform(.keyboard(PanelView.undoKeys))
            // The browser decides how much of the text it takes back at once.
            try page.wait("field('Whole') !== 'many'")
            #expect(host.registry.revision == 1 && host.value("Whole") == .int(20))
        }
    }

    @Test func anUndoOfAnOverwrittenChangeIsRefused() throws {
        try PanelHost.visit(expecting: [PanelView.refused(409)]) { host, page in
            try page.type("20", over: "Whole", then: .enter, sets: .int(20))
            try host.set("Whole", "30")
            try page.wait("field('Whole') === '30'")
            try page.step("undo", saying: "Kinds/Basic/Whole has changed since, in revision 2 by uid")
            #expect(host.value("Whole") == .int(30))
        }
    }

    private static let partly = PanelHost.User(name: "partly", scopes: ["read:Kinds", "write:Kinds"])

    @Test func aConflictNamesTheOtherUser() throws {
        try PanelHost.visit(as: Self.partly, expecting: [PanelView.refused(409)]) { host, page in
            try page.type("20", over: "Whole", then: .enter, sets: .int(20))
            try host.registry.commit(origin: .user(77)) { batch in
                batch.set("Kinds/Basic/Whole", .int(30))
                batch.set("Other/Far/Distance", .int(8))
            }
            try page.wait("field('Whole') === '30'")
            try page.step("undo", saying: "changed since, in revision 2 by uid 77")
            #expect(host.value("Whole") == .int(30))
            // Without the right there is no button to force it.
            try page.expect("named('Force', '#toasts') == null")
        }
    }

    @Test func aConflictCanBeForced() throws {
        let file = ConfigEntry(path: "Kinds/Basic/Whole", text: "30", line: 1, origin: TweakOrigin("a.conf:1"))
        try PanelHost.visit(expecting: [PanelView.refused(409)]) { host, page in
            try page.type("20", over: "Whole", then: .enter, sets: .int(20))
            _ = host.registry.replace(.configFile, with: [file], LayerPolicy(dropsOverrides: true))
            try page.wait("field('Whole') === '30'")
            try page.step("undo", saying: "Kinds/Basic/Whole has changed since, in revision 2 by")
            #expect(host.registry.history.contains { $0.isUndone } == false)
            try page.press(button: "Force", in: "#toasts", saying: "Undone: Whole stays as it is")
            #expect(host.registry.history.contains { $0.isUndone } && host.value("Whole") == .int(30))
        }
    }

    @Test func theHistoryShowsUsersAndTimesAndUndoes() throws {
        try PanelHost.visit { host, page in
            try page.type("20", over: "Whole", then: .enter, sets: .int(20))
            try host.set("Text", "theirs")
            try page.open("history", until: "document.querySelectorAll('#pane li').length === 2")
            let entries = try page.ask("[...document.querySelectorAll('#pane li')].map((li) => li.textContent)")
            let texts = entries.array?.compactMap(\.string) ?? []
            #expect(texts.first?.contains("uid") == true && texts.first?.contains("theirs") == true, "\(texts)")
            #expect(texts.last?.contains("token owner") == true && texts.last?.contains("20") == true, "\(texts)")
            #expect(texts.allSatisfy { $0.contains(":") })
            try page.press(button: "Undo", in: "#pane", sets: "Whole", to: .int(50))
            try page.wait("document.querySelector('#pane li.undone') != null")
            // The name of a tweak is a link.
            try page.wait("document.querySelector('#pane li').textContent.includes('undo of their own change')")
            try page.browser.element("#pane li:last-child a").click()
            try page.wait("document.activeElement === row('Whole') && byID('drawer').open")
        }
    }
}
