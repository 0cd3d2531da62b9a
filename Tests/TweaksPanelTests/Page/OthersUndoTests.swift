// Undo among several people: one's own changes first, and another's only when that is agreed to.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct OthersUndoTests {
    private static let undoKeys: [KeyStep] = [.press(.control), .character("z"), .release(.control)]
    private static let redoKeys: [KeyStep] = [
        .press(.control), .press(.shift), .character("z"), .release(.shift), .release(.control),
    ]
    /// That there is nothing of one's own is an answer like others to the page; the browser notes it.
    private static let nothing = [PanelView.refused(409)]

    private func change(_ host: PanelHost, _ name: String, _ value: TweakValue, by uid: UInt32 = 77) throws {
        try host.registry.commit(origin: .user(uid)) { $0.set(PanelHost.path(name), value) }
    }

    @Test func onesOwnIsUndoneFirst() throws {
        let host = try PanelHost()
        try host.visit(expecting: Self.nothing) { page in
            try page.type("20", over: "Whole", then: .enter)
            try host.wait("Whole", .int(20))
            try change(host, "Text", .string("theirs"))
            try page.wait("field('Text') === 'theirs'")
            try page.step("undo")
            try page.waitUntilSaid("Undid Whole 50 → 20")
            #expect(host.value("Whole") == .int(50) && host.value("Text") == .string("theirs"))
            // Nothing of one's own is left: it is asked, and nothing happens.
            let revision = host.registry.revision
            try page.step("undo")
            try page.waitUntilSaid("Undo uid 77's change: Text Tweaks → theirs?")
            #expect(host.registry.revision == revision)
            // The keyboard is where the question is, and goes back.
            try page.wait("document.activeElement === named('Undo', '#toasts')")
            try page.browser.perform(.keys(.enter))
            try page.waitUntilSaid("Undid uid 77's change: Text Tweaks → theirs")
            #expect(host.value("Text") == .string("Tweaks"))
            // What the row shows is not theirs any more.
            try page.wait("!row('Text').classList.contains('touched') && !text('Text', 'origin').includes('77')")
            try page.wait("document.activeElement.id === 'undo' || document.getElementById('undo').disabled")
            // What one has taken back oneself is one's own to make again.
            try page.step("redo")
            try page.waitUntilSaid("Redid uid 77's change: Text Tweaks → theirs")
            try page.step("redo")
            try page.waitUntilSaid("Redid Whole 50 → 20")
            #expect(host.value("Whole") == .int(20) && host.value("Text") == .string("theirs"))
        }
    }

    @Test func redoOfOthersIsOffered() throws {
        let host = try PanelHost()
        try host.visit(expecting: Self.nothing) { page in
            try change(host, "Whole", .int(30))
            try host.registry.undo(origin: .user(77))
            try page.wait("!document.getElementById('redo').disabled")
            try page.browser.perform(.keyboard(Self.redoKeys))
            try page.waitUntilSaid("Redo uid 77's change: Whole 50 → 30?")
            #expect(host.value("Whole") == .int(50))
            try page.press(button: "Redo", in: "#toasts")
            try page.waitUntilSaid("Redid uid 77's change: Whole 50 → 30")
            #expect(host.value("Whole") == .int(30))
        }
    }

    /// What was agreed to is done, and nothing that came meanwhile.
    @Test func anOfferIsMadeAgainWhereItIsOld() throws {
        let host = try PanelHost()
        try host.visit(expecting: Self.nothing) { page in
            try change(host, "Whole", .int(30))
            try page.step("undo")
            try page.waitUntilSaid("Undo uid 77's change: Whole 50 → 30?")
            try change(host, "Count", .int(11), by: 78)
            try page.press(button: "Undo", in: "#toasts")
            try page.waitUntilSaid("Undo uid 78's change: Count 10 → 11?")
            #expect(host.value("Whole") == .int(30) && host.value("Count") == .int(11))
            // Asked twice, it is offered once; and who does something else is not asked any more.
            try page.ask("document.querySelector('.toast').id = 'first'")
            try page.browser.perform(.keyboard(Self.undoKeys))
            try page.wait("document.getElementById('first') == null && named('Undo', '#toasts') != null")
            #expect(try page.ask("document.querySelectorAll('.toast').length") == 1)
            try page.type("20", over: "Free", then: .enter)
            try host.wait("Free", .number(20))
            try page.step("undo")
            try page.waitUntilSaid("Undid Free 1 → 20")
            #expect(try page.ask("document.getElementById('toasts').textContent.includes('?')") == false)
        }
    }

    @Test func nothingToUndoIsSaid() throws {
        let host = try PanelHost()
        try host.visit(expecting: Self.nothing) { page in
            for (keys, text) in [(Self.undoKeys, "Nothing to undo"), (Self.redoKeys, "Nothing to redo")] {
                try page.browser.perform(.keyboard(keys))
                try page.waitUntilSaid(text)
            }
            #expect(host.registry.revision == 0)
            #expect(try page.ask("document.querySelector('.toast.bad, .toast .button:not(.plain)') == null") == true)
            #expect(try page.ask("['undo', 'redo'].every((id) => document.getElementById(id).disabled)") == true)
        }
    }

    /// The drawer says whose change an undo was about, and offers no more than the bar does.
    @Test func historySaysWhose() throws {
        let host = try PanelHost()
        try host.visit(expecting: Self.nothing) { page in
            try page.element("history").click()
            try page.wait("named('Undo', '#pane')?.disabled && named('Redo', '#pane').disabled")
            try change(host, "Whole", .int(30))
            try page.wait("named('Undo', '#pane')?.disabled === false")
            try page.press(button: "Undo", in: "#pane")
            try page.waitUntilSaid("Undo uid 77's change: Whole 50 → 30?")
            try page.press(button: "Undo", in: "#toasts")
            try page.wait("document.querySelector('#pane li')?.textContent.includes('undo of uid 77’s change')")
            try page.wait("named('Undo', '#pane')?.disabled && !named('Redo', '#pane').disabled")
        }
    }
}
