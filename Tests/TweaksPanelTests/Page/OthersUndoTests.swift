// Tests undo with several users: the user's own changes first, others' changes only after a confirmation.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct OthersUndoTests {
    /// The page handles the refusal of an undo without own changes; the browser still logs it.
    private static let nothing = [PanelView.refused(409)]

    private func change(_ host: PanelHost, _ name: String, _ value: TweakValue, by uid: UInt32 = 77) throws {
        try host.registry.commit(origin: .user(uid)) { $0.set(PanelHost.path(name), value) }
    }

    @Test func ownChangesAreUndoneBeforeThoseOfOthers() throws {
        try PanelHost.visit(expecting: Self.nothing) { host, page in
            try page.type("20", over: "Whole", then: .enter, sets: .int(20))
            try change(host, "Text", .string("theirs"))
            try page.wait("field('Text') === 'theirs'")
            try page.step("undo", saying: "Undone: Whole 20 → 50")
            #expect(host.value("Whole") == .int(50) && host.value("Text") == .string("theirs"))
            // No own change is left: the page asks first.
            let revision = host.registry.revision
            try page.step("undo", saying: "Undo uid 77's change: Text Tweaks → theirs?")
            #expect(host.registry.revision == revision)
            // The focus moves to the question, and back.
            try page.wait("document.activeElement === named('Undo', '#toasts')")
            try page.keys(.enter)
            try page.waitUntilSaid("Undone: Text theirs → Tweaks (uid 77's change)")
            #expect(host.value("Text") == .string("Tweaks"))
            try page.wait("!row('Text').classList.contains('touched') && !text('Text', 'origin').includes('77')")
            try page.wait("document.activeElement.id === 'undo' || byID('undo').disabled")
            // Own undos can be redone without a question.
            for text in ["Redone: Text Tweaks → theirs (uid 77's change)", "Redone: Whole 50 → 20"] {
                try page.step("redo")
                try page.waitUntilSaid(text)
            }
            #expect(host.value("Whole") == .int(20) && host.value("Text") == .string("theirs"))
        }
    }

    /// Both are `token owner`.
    @Test func windowsWithoutNamesUndoTheirOwnChanges() throws {
        try PanelHost.visit(expecting: Self.nothing) { host, page in
            try host.visit { other in
                try other.type("30", over: "Whole", then: .enter, sets: .int(30))
                try page.wait("field('Whole') === '30'")
                try page.step("undo", saying: "Undo another window's change: Whole 50 → 30?")
                #expect(host.value("Whole") == .int(30))
                try page.type("11", over: "Count", then: .enter, sets: .int(11))
                // Neither a name nor another load of the page makes it another window.
                try page.open("people", until: "isShown(byID('name'))")
                try page.type("Ada", over: page.element("name"), then: [.enter])
                try page.wait("byID('pane').textContent.includes('You are token owner (Ada).')")
                try page.browser.reload()
                try page.waitUntilConnected()
                try page.step("undo", saying: "Undone: Count 11 → 10")
                try other.step("undo", saying: "Undone: Whole 30 → 50")
            }
        }
    }

    @Test func aQuestionIsAskedAgainIfAnotherChangeCame() throws {
        try PanelHost.visit(expecting: Self.nothing) { host, page in
            try change(host, "Whole", .int(30))
            try page.step("undo", saying: "Undo uid 77's change: Whole 50 → 30?")
            try change(host, "Count", .int(11), by: 78)
            try page.press(button: "Undo", in: "#toasts", saying: "Undo uid 78's change: Count 10 → 11?")
            #expect(host.value("Whole") == .int(30) && host.value("Count") == .int(11))
            // A second undo replaces the question; another change removes it.
            try page.ask("document.querySelector('.toast').id = 'first'")
            try page.browser.perform(.keyboard(PanelView.undoKeys))
            try page.wait("byID('first') == null && named('Undo', '#toasts') != null")
            #expect(try page.ask("document.querySelectorAll('.toast').length") == 1)
            try page.type("20", over: "Free", then: .enter, sets: .number(20))
            try page.step("undo", saying: "Undone: Free 20 → 1")
            try page.expect("!byID('toasts').textContent.includes('?')")
        }
    }

    @Test func undoAndRedoAreRefusedWithoutChangesAndRedoOfOthersIsOffered() throws {
        try PanelHost.visit(expecting: Self.nothing) { host, page in
            for (keys, text) in [(PanelView.undoKeys, "Nothing to undo"), (PanelView.redoKeys, "Nothing to redo")] {
                try page.browser.perform(.keyboard(keys))
                try page.waitUntilSaid(text)
            }
            #expect(host.registry.revision == 0)
            try page.expect("document.querySelector('.toast.bad, .toast .button:not(.plain)') == null")
            try page.expect("['undo', 'redo'].every((id) => byID(id).disabled)")
            try change(host, "Whole", .int(30))
            try host.registry.undo(origin: .user(77))
            try page.wait("!byID('redo').disabled")
            try page.browser.perform(.keyboard(PanelView.redoKeys))
            try page.waitUntilSaid("Redo uid 77's change: Whole 50 → 30?")
            #expect(host.value("Whole") == .int(50))
            try page.press(button: "Redo", in: "#toasts", saying: "Redone: Whole 50 → 30 (uid 77's change)")
            #expect(host.value("Whole") == .int(30))
        }
    }

    @Test func theHistoryNamesTheUserAndAsksFirst() throws {
        try PanelHost.visit(expecting: Self.nothing) { host, page in
            try page.open("history", until: "named('Undo', '#pane')?.disabled && named('Redo', '#pane').disabled")
            try change(host, "Whole", .int(30))
            try page.wait("named('Undo', '#pane')?.disabled === false")
            try page.press(button: "Undo", in: "#pane", saying: "Undo uid 77's change: Whole 50 → 30?")
            try page.press(button: "Undo", in: "#toasts")
            try page.wait("document.querySelector('#pane li')?.textContent.includes('undo of uid 77’s change')")
            try page.wait("named('Undo', '#pane')?.disabled && !named('Redo', '#pane').disabled")
        }
    }
}
