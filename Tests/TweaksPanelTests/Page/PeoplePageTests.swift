// People and windows: a name that is given is sent with everything, and each window is one session.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct PeoplePageTests {
    /// Gives a name, and waits until the list of people has it.
    private func call(_ name: String, _ page: PanelView) throws {
        if try page.ask("document.getElementById('drawer').open") == false { try page.element("people").click() }
        try page.wait("isShown(document.getElementById('name'))")
        try page.type(name, over: page.element("name"), then: [.enter])
        try page.wait(
            "document.querySelector('#pane li[data-own] strong')?.textContent === given[0]",
            .string("token owner (\(name))"))
    }

    private static let people = "[...document.querySelectorAll('#pane li strong')].map((name) => name.textContent)"

    /// Waits until these are listed, and one of them is marked as oneself.
    private func wait(for people: [PageValue], _ page: PanelView) throws {
        try page.wait("JSON.stringify(\(Self.people).sort()) === JSON.stringify(given[0])", .array(people))
        #expect(try page.ask("document.querySelectorAll('#pane li[data-own] .badge').length") == 1)
    }

    @Test func aNameIsSentWithEverything() throws {
        let host = try PanelHost()
        try host.visit { page in
            try call("Zoë", page)
            try page.wait("document.getElementById('pane').textContent.includes('You are token owner (Zoë).')")
            try page.browser.perform(.keys(.escape))
            try host.visit { other in
                try page.type("72", over: "Whole", then: .enter)
                // Where it was set, where others see it, and in the history.
                try other.wait("field('Whole') === '72' && text('Whole', 'origin').includes('token owner (Zoë)')")
                try page.wait("text('Whole', 'origin').includes('token owner (Zoë)')")
                try other.element("history").click()
                try other.wait("document.querySelector('#pane li bdi')?.textContent === 'token owner (Zoë)'")
            }
            #expect(host.registry.history.first?.origin.name == "Zoë")
            // The browser remembers it.
            try page.browser.openTab()
            try page.browser.open(host.origin)
            try page.waitUntilConnected()
            try page.type("73", over: "Whole", then: .enter)
            try host.wait("Whole", .int(73))
            #expect(host.registry.history.first?.origin.name == "Zoë")
            // None is a name, too.
            try page.element("people").click()
            try page.wait("document.getElementById('name')?.value === 'Zoë'")
            try page.type(" ", over: page.element("name"), then: [.enter])
            try page.wait("document.querySelector('#pane li[data-own] strong')?.textContent === 'token owner'")
        }
    }

    /// What the server says of it is shown where it was typed, and nothing changes.
    @Test func aBadNameIsRefused() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(400)]) { page in
            try call("Ada", page)
            try page.type("Ada (admin)", over: page.element("name"), then: [.enter])
            try page.wait("isShown(document.getElementById('name-error'))")
            #expect(
                try page.ask("document.getElementById('name-error').textContent").string?
                    .hasPrefix("a name holds no parentheses") == true)
            #expect(try page.ask("document.getElementById('name').value") == "Ada (admin)")
            #expect(try page.ask("localStorage.getItem('tweaks.name')") == "\"Ada\"")
            try wait(for: ["token owner (Ada)"], page)
            try page.browser.perform(.keys(.escape))
            try page.type("72", over: "Whole", then: .enter)
            try host.wait("Whole", .int(72))
            #expect(host.registry.history.first?.origin.name == "Ada")
        }
    }

    /// One that an earlier version of the program took does not keep the page from connecting.
    @Test func aNameThatIsNoLongerGood() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(400)]) { page in
            try page.browser.openTab()
            try page.browser.open(host.origin)
            try page.waitUntilConnected()
            try page.ask("localStorage.setItem('tweaks.name', JSON.stringify('a(b'))")
            try page.browser.closeTab()
            try page.browser.openTab()
            try page.browser.open(host.origin)
            try page.waitUntilConnected()
            #expect(try page.ask("localStorage.getItem('tweaks.name')") == "\"\"")
        }
    }

    /// Two windows of one browser are two sessions, whose people may be called differently, however often they are loaded.
    @Test func aWindowIsOneSession() throws {
        let host = try PanelHost()
        try host.visit(expecting: [PanelView.refused(409)]) { page in
            let first = page.browser.tabID
            try call("Ada", page)
            try wait(for: ["token owner (Ada)"], page)
            let second = try page.browser.openTab()
            try page.browser.open(host.origin)
            try page.waitUntilConnected()
            try call("Bob", page)
            try wait(for: ["token owner (Ada)", "token owner (Bob)"], page)
            for tab in [first, second] {
                try page.browser.go(to: tab)
                try page.browser.reload()
                try page.waitUntilConnected()
                try page.element("people").click()
                try wait(for: ["token owner (Ada)", "token owner (Bob)"], page)
                let own = tab == first ? "token owner (Ada)" : "token owner (Bob)"
                #expect(try page.ask("document.querySelector('#pane li[data-own] strong').textContent") == .string(own))
            }
            // Neither takes back what the other has done, unless that is agreed to.
            try page.browser.perform(.keys(.escape))
            try page.type("72", over: "Whole", then: .enter)
            try host.wait("Whole", .int(72))
            try page.browser.go(to: first)
            try page.browser.perform(.keys(.escape))
            try page.step("undo")
            try page.waitUntilSaid("Undo token owner (Bob)'s change: Whole 50 → 72?")
            #expect(host.value("Whole") == .int(72))
        }
    }

    /// A copy of a window begins with what the window has stored, and is another one all the same.
    @Test func aCopyIsAnotherWindow() throws {
        let host = try PanelHost()
        try host.visit { page in
            let first = page.browser.tabID
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
