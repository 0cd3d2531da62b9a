// Tests several users at once: changes of others appear, but never under a pointer or a text cursor.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct SharingTests {
    /// A change over the socket, and the condition that the page shows it.
    static let changes = [
        ("Bool", "on", "part('Bool', 'switch').ariaChecked === 'true'"),
        ("Whole", "80", "field('Whole') === '80' && part('Whole', 'slider').ariaValueText === '80'"),
        ("Real", "72.5", "field('Real') === '72.5' && part('Real', 'slider').value === '125'"),
        ("Free", "1e-12", "Number(field('Free')) === 1e-12"),
        ("Count", "9223372036854775807", "field('Count') === '9223372036854775807'"),
        ("Text", "\"two words\"", "field('Text') === 'two words'"),
        ("Poem", "\"a\\nb\\nc\"", "field('Poem') === 'a\\nb\\nc'"),
        ("Color", "#0000FF80", "field('Color') === '#0000FF80'"),
        ("Side", "right", "row('Side').querySelector(':checked').value === 'right'"),
        ("Day", "sun", "part('Day', 'select').value === 'sun'"),
        ("Fade", "1s500ms", "/^1(.5s|s500ms)$/.test(field('Fade'))"),
        ("Password", "hush", "text('Password', 'value') === 'set'"),
    ]

    @Test func changesOverASocketUpdateControls() throws {
        try PanelHost.visit { host, page in
            for (name, text, condition) in Self.changes {
                try host.set(name, text)
                try page.wait(condition)
            }
            // The user is shown beside the control, and announced.
            try page.wait("text('Day', 'origin').includes('uid')")
            try page.wait("byID('live').textContent.includes('uid')")
        }
    }

    @Test func twoPagesShowEachOthersChanges() throws {
        let host = try PanelHost()
        try host.visit { one in
            try host.visit { other in
                try one.type("72", over: "Whole", then: .enter)
                try other.wait("field('Whole') === '72' && text('Whole', 'origin').includes('token owner')")
                try other.click("Bool", "switch")
                try one.wait("part('Bool', 'switch').ariaChecked === 'true'")
                try one.open("people", until: "document.querySelectorAll('#pane li').length >= 2")
            }
        }
    }

    /// The other value is marked; the last change wins.
    @Test func aChangeOfAnotherDuringADragDoesNotMoveTheControl() throws {
        try PanelHost.visit { host, page in
            try page.drag("Whole", x: 30, over: 100, isReleased: false)
            // The values on the way may arrive later than the pointer; the page shows the last one.
            let held = try page.ask("field('Whole')")
            let dragged = try #require(held.string.flatMap { Int64($0) })
            #expect(dragged > 50)
            try host.wait("Whole", .int(dragged))
            try host.set("Whole", "3")
            try page.wait("text('Whole', 'ghost').includes('3') && text('Whole', 'ghost').includes('uid')")
            try page.wait("isShown(part('Whole', 'ghost-mark'))")
            #expect(try page.ask("[field('Whole'), part('Whole', 'slider').ariaValueText]") == [held, held])
            #expect(host.value("Whole") == .int(3))
            try page.browser.perform(.mouse(.moveBy(x: 20, y: 0, over: .milliseconds(100)), .release))
            let last = try #require(try page.ask("field('Whole')").string.flatMap { Int64($0) })
            #expect(last > 50)
            try host.wait("Whole", .int(last))
            try page.browser.perform(.mouse(.moveTo(x: 1, y: 1)))
            try page.wait("text('Whole', 'ghost') === ''")
            try page.wait("field('Whole') === given[0]", .string("\(last)"))
        }
    }

    @Test func restingPointersAndTypedTextKeepTheirValue() throws {
        try PanelHost.visit { host, page in
            try page.browser.perform(.mouse(.move(to: page.part("Whole", "slider"))))
            try host.set("Whole", "3")
            try page.wait("text('Whole', 'ghost').includes('3')")
            #expect(try page.ask("field('Whole')") == "50")
            try page.browser.perform(.mouse(.moveTo(x: 1, y: 1)))
            try page.wait("field('Whole') === '3' && text('Whole', 'ghost') === ''")
            try page.type("half a sen", over: "Text")
            try host.set("Text", "theirs")
            try page.wait("text('Text', 'ghost').includes('theirs')")
            #expect(try page.ask("field('Text')") == "half a sen")
            try page.browser.perform(.keyboard([.character("t"), .press(.enter), .release(.enter)]))
            try host.wait("Text", .string("half a sent"))
        }
    }
}
