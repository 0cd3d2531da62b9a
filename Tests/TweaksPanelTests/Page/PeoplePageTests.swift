// Tests people and windows: a name is sent with every request, and each window is one session.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct PeoplePageTests {
    /// Enters a name, and waits until the list of people has it.
    private func enter(_ name: String, _ page: PanelView) throws {
        if try page.ask("byID('drawer').open") == false { try page.element("people").click() }
        try page.wait("isShown(byID('name'))")
        try page.type(name, over: page.element("name"), then: [.enter])
        let own = PageValue.string("token owner (\(name))")
        try page.wait("document.querySelector('#pane li[data-own] strong')?.textContent === given[0]", own)
    }

    private static let people = "[...document.querySelectorAll('#pane li strong')].map((name) => name.textContent)"

    /// Waits until these are listed, and one of them is marked as the own session.
    private func wait(for people: [PageValue], _ page: PanelView) throws {
        try page.wait("JSON.stringify(\(Self.people).sort()) === JSON.stringify(given[0])", .array(people))
        try page.wait("document.querySelectorAll('#pane li[data-own] .badge').length === 1")
    }

    /// Keeps the stream of a window that is hidden now or later, until it is reloaded: it would close after a while.
    private func keepStream(_ page: PanelView) throws { try page.replaceDelay(20_000) }

    @discardableResult
    private func openTab(_ page: PanelView) throws -> Browser.TabID {
        let tab = try page.browser.openTab()
        try page.browser.open(page.host.origin)
        try page.waitUntilConnected()
        return tab
    }

    @Test func theListStaysWhileTheProcessIsSlowToAnswer() throws {
        try PanelHost.visit { _, page in
            try enter("Ada", page)
            // A hidden page does not refresh the list.
            try page.browser.run(
                """
                Object.defineProperty(document, 'hidden', { get: () => true });
                document.documentElement.dataset.state = 'silent';
                document.querySelector('#pane ul').replaceChildren();
                document.querySelector('#drawer [data-tab=people]').click();
                """)
            try page.wait("document.querySelector('#pane h2')?.textContent === 'People'")
            #expect(try page.ask(Self.people) == ["token owner (Ada)"])
        }
    }

    @Test func theFirstChangeAsksForANameOnce() throws {
        let host = try PanelHost()
        try host.visit(asksForName: true) { page in
            try page.expect("byID('own-name') == null")
            try page.type("60", over: "Whole", then: .enter, sets: .int(60))
            try page.wait("isShown(byID('own-name'))")
            try page.expect("document.activeElement === part('Whole', 'field')")
            try page.attachPictures("name-request")
            try page.type("Ada", over: page.element("own-name"), then: [.enter])
            try page.wait("byID('own-name') == null")
            try page.type("11", over: "Count", then: .enter, sets: .int(11))
            #expect(host.registry.history.first?.origin.name == "Ada")
        }
        try host.visit(asksForName: true) { page in
            try page.type("62", over: "Whole", then: .enter, sets: .int(62))
            try page.press(button: "Not now", in: "#toasts")
            try page.wait("byID('own-name') == null")
            try page.browser.reload()
            try page.waitUntilConnected()
            try page.type("63", over: "Whole", then: .enter, sets: .int(63))
            try page.wait("!row('Whole').row.sender.isBusy")
            try page.expect("byID('own-name') == null")
            #expect(host.registry.history.first?.origin.name == nil)
        }
    }

    @Test func aNameIsSentWithEveryRequest() throws {
        try PanelHost.visit { host, page in
            try enter("Zoë", page)
            try page.wait("byID('pane').textContent.includes('You are token owner (Zoë).')")
            try page.keys(.escape)
            try host.visit { other in
                try page.type("72", over: "Whole", then: .enter)
                try other.wait("field('Whole') === '72' && text('Whole', 'origin').includes('token owner (Zoë)')")
                try page.wait("text('Whole', 'origin').includes('token owner (Zoë)')")
                try other.element("history").click()
                try other.wait("document.querySelector('#pane li bdi')?.textContent === 'token owner (Zoë)'")
            }
            #expect(host.registry.history.first?.origin.name == "Zoë")
            // The browser remembers it.
            try openTab(page)
            try page.type("73", over: "Whole", then: .enter, sets: .int(73))
            #expect(host.registry.history.first?.origin.name == "Zoë")
            // An empty name removes it.
            try page.open("people", until: "byID('name')?.value === 'Zoë'")
            try page.type(" ", over: page.element("name"), then: [.enter])
            try page.wait("document.querySelector('#pane li[data-own] strong')?.textContent === 'token owner'")
        }
    }

    @Test func aBadNameIsRefusedAndTheOldOneStays() throws {
        try PanelHost.visit(expecting: [PanelView.refused(400)]) { host, page in
            try enter("Ada", page)
            try page.type("Ada (admin)", over: page.element("name"), then: [.enter])
            try page.wait("isShown(byID('name-error'))")
            try page.expect("byID('name-error').textContent.startsWith('a name holds no parentheses')")
            #expect(try page.ask("byID('name').value") == "Ada (admin)")
            #expect(try page.ask("localStorage.getItem('tweaks.name')") == "\"Ada\"")
            try wait(for: ["token owner (Ada)"], page)
            try page.keys(.escape)
            try page.type("72", over: "Whole", then: .enter, sets: .int(72))
            #expect(host.registry.history.first?.origin.name == "Ada")
        }
    }

    @Test func aStoredNameThatIsNowInvalidIsDropped() throws {
        try PanelHost.visit(expecting: [PanelView.refused(400)]) { host, page in
            try openTab(page)
            try page.ask("localStorage.setItem('tweaks.name', JSON.stringify('a(b'))")
            try page.browser.closeTab()
            try openTab(page)
            #expect(try page.ask("localStorage.getItem('tweaks.name')") == "\"\"")
        }
    }

    @Test func eachWindowIsOneSessionWithItsOwnName() throws {
        try PanelHost.visit(expecting: [PanelView.refused(409)]) { host, page in
            let first = page.browser.tabID
            try keepStream(page)
            try enter("Ada", page)
            try wait(for: ["token owner (Ada)"], page)
            let second = try openTab(page)
            try keepStream(page)
            try enter("Bob", page)
            try wait(for: ["token owner (Ada)", "token owner (Bob)"], page)
            for tab in [first, second] {
                try page.browser.go(to: tab)
                try page.browser.reload()
                try page.waitUntilConnected()
                try keepStream(page)
                try page.element("people").click()
                try wait(for: ["token owner (Ada)", "token owner (Bob)"], page)
                let own = tab == first ? "token owner (Ada)" : "token owner (Bob)"
                try page.wait(
                    "document.querySelector('#pane li[data-own] strong')?.textContent === given[0]", .string(own))
            }
            // Neither undoes a change of the other without a confirmation.
            try page.keys(.escape)
            try page.type("72", over: "Whole", then: .enter, sets: .int(72))
            try page.browser.go(to: first)
            try page.keys(.escape)
            try page.step("undo", saying: "Undo token owner (Bob)'s change: Whole 50 → 72?")
            #expect(host.value("Whole") == .int(72))
        }
    }

    @Test func aCopyOfAWindowIsAnotherSession() throws {
        try PanelHost.visit { _, page in
            let first = page.browser.tabID
            try keepStream(page)
            try page.ask("(sessionStorage.setItem('copied', 'yes'), window.open('/'), 1)")
            let copy = try #require(try page.browser.tabIDs.first { $0 != first })
            try page.browser.go(to: copy)
            try page.waitUntilConnected()
            #expect(try page.ask("sessionStorage.getItem('copied')") == "yes")
            try page.element("people").click()
            try wait(for: ["token owner", "token owner"], page)
        }
    }
}
