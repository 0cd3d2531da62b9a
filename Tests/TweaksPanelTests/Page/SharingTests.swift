// Several people at once: what others do appears, and never moves what is under somebody's pointer.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct SharingTests {
    /// What is set over the socket, and what the page shows then.
    static let changes = [
        ("Bool", "on", "part('Bool', 'switch').ariaChecked === 'true'"),
        ("Whole", "80", "field('Whole') === '80' && part('Whole', 'slider').ariaValueText === '80'"),
        ("Real", "72.5", "field('Real') === '72.5' && part('Real', 'slider').value === '125'"),
        ("Free", "1e-12", "Number(field('Free')) === 1e-12"),
        ("Count", "9223372036854775807", "field('Count') === '9223372036854775807'"),
        ("Text", "\"two words\"", "field('Text') === 'two words'"),
        ("Poem", "\"a\\nb\\nc\"", "field('Poem') === 'a\\nb\\nc'"),
        ("Colour", "#0000FF80", "field('Colour') === '#0000FF80'"),
        ("Side", "right", "row('Side').querySelector(':checked').value === 'right'"),
        ("Day", "sun", "part('Day', 'select').value === 'sun'"),
        ("Fade", "1s500ms", "/^1(.5s|s500ms)$/.test(field('Fade'))"),
        ("Password", "hush", "text('Password', 'value') === 'set'"),
    ]

    @Test func changesOverASocketMoveControls() throws {
        let host = try PanelHost()
        try host.visit { page in
            for (name, text, condition) in Self.changes {
                try host.set(name, text)
                try page.wait(condition)
            }
            // Who made it is said beside the control, and to screen readers.
            try page.wait("text('Day', 'origin').includes('uid')")
            try page.wait("document.getElementById('live').textContent.includes('uid')")
        }
    }

    @Test func twoPagesAtOnce() throws {
        let host = try PanelHost()
        try host.visit { one in
            try host.visit { other in
                try one.type("72", over: "Whole", then: .enter)
                try other.wait("field('Whole') === '72' && text('Whole', 'origin').includes('token owner')")
                try other.click("Bool", "switch")
                try one.wait("part('Bool', 'switch').ariaChecked === 'true'")
                // Both are listed.
                try one.element("people").click()
                try one.wait("document.querySelectorAll('#pane li').length >= 2")
            }
        }
    }

    /// The control under a pointer does not jump; the other's value is marked, and who moves last has the last word.
    @Test func aDragWhileSomebodyElseSetsTheSame() throws {
        let host = try PanelHost()
        try host.visit { page in
            let slider = try page.part("Whole", "slider")
            try page.browser.perform(
                .mouse(.move(to: slider), .press, .moveBy(x: 30, y: 0, over: .milliseconds(100))))
            // The values on the way may arrive later than the pointer; what the page shows is the last of them.
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

    /// Under a resting pointer nothing moves either; once it is gone, the newest value shows.
    @Test func nothingJumpsUnderAPointer() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.browser.perform(.mouse(.move(to: page.part("Whole", "slider"))))
            try host.set("Whole", "3")
            try page.wait("text('Whole', 'ghost').includes('3')")
            #expect(try page.ask("field('Whole')") == "50")
            try page.browser.perform(.mouse(.moveTo(x: 1, y: 1)))
            try page.wait("field('Whole') === '3' && text('Whole', 'ghost') === ''")
        }
    }

    /// What is being typed stays, whatever others do.
    @Test func whatIsTypedStays() throws {
        let host = try PanelHost()
        try host.visit { page in
            try page.type("half a sen", over: "Text")
            try host.set("Text", "theirs")
            try page.wait("text('Text', 'ghost').includes('theirs')")
            #expect(try page.ask("field('Text')") == "half a sen")
            try page.browser.perform(.keyboard([.character("t"), .press(.enter), .release(.enter)]))
            try host.wait("Text", .string("half a sent"))
        }
    }
}
