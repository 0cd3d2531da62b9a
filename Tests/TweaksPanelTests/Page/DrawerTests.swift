// Tests the drawer: beside the list where there is room for both, and what Escape closes.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct DrawerTests {
    private static let isBeside =
        """
        byID('drawer').open && !byID('drawer').matches(':modal')
            && byID('list').getBoundingClientRect().right <= byID('drawer').getBoundingClientRect().left
        """

    @Test(arguments: [1_280, 780, 2_200]) func oneGoesOnDraggingBesideIt(_ width: Int) throws {
        try PanelHost.visit(width: width) { host, page in
            try page.element("history").click()
            try page.wait("\(Self.isBeside) && document.querySelector('#pane h2') != null")
            try page.expectRoom()
            try page.drag("Whole", x: 40)
            try host.wait("Whole") { value in if case .int(let now) = value { now > 50 } else { false } }
            // The history follows.
            try page.wait("document.querySelectorAll('#pane li').length === 1")
            try page.attachPictures("beside-\(width)")
        }
    }

    @Test func escapeEndsWhatIsNearestFirst() throws {
        try PanelHost.visit { host, page in
            let isOpen = "byID('drawer').open"
            try page.open("history")
            try page.drag("Whole", x: 40, isReleased: false)
            try host.wait("Whole") { value in if case .int(let now) = value { now > 50 } else { false } }
            try page.keys(.escape, sets: "Whole", to: .int(50))
            try page.browser.perform(.mouse(.release))
            try page.expect(isOpen)
            try page.openPicker()
            try page.keys(.escape)
            try page.wait("!isShown(byID('picker'))")
            try page.expect(isOpen)
            try page.type("7", over: "Count")
            try page.keys(.escape)
            try page.wait("field('Count') === '10'")
            try page.expect(isOpen)
            try page.choose("for-1m", ofMenuOf: "Whole")
            try page.wait("row('Whole').row.isArmed")
            try page.focus("Whole", "slider")
            try page.keys(.escape)
            try page.wait("!row('Whole').row.isArmed")
            try page.expect(isOpen)
            try page.keys(.escape)
            try page.wait("document.activeElement === row('Whole')")
            try page.expect(isOpen)
            try page.keys(.escape)
            try page.wait("!\(isOpen)")
            #expect(host.registry.history.isEmpty)
        }
    }

    @Test func itsButtonClosesItAndTheListHasItsWidthAgain() throws {
        try PanelHost.visit { _, page in
            let width = try page.ask("byID('list').offsetWidth")
            try page.open("presets")
            try page.element("history").click()
            try page.wait("document.querySelector('#pane h2')?.textContent === 'History'")
            try page.element("history").click()
            try page.wait("!byID('drawer').open && byID('list').offsetWidth === given[0]", width)
        }
    }

    @Test func itIsAboveTheListOfANarrowWindow() throws {
        try PanelHost.visit(width: 390) { _, page in
            try page.element("more").click()
            try page.wait("isShown(byID('history'))")
            try page.open("history")
            try page.expect("byID('drawer').matches(':modal')")
            try page.keys(.escape)
            try page.wait("!byID('drawer').open")
        }
    }

    @Test func oneNotificationIsShownAtATime() throws {
        try PanelHost.visit { host, page in
            for (text, value) in [("60", 60), ("70", 70)] as [(String, Int64)] {
                try page.type(text, over: "Whole", then: .enter, sets: .int(value))
                try page.step("undo", sets: "Whole", to: .int(50))
                try page.waitUntilSaid("Undone: Whole \(text) → 50")
                try page.expect("document.querySelectorAll('.toast').length === 1")
            }
            // It is in the foot of the drawer, and stays when that closes.
            try page.open("history")
            try page.expect("byID('drawer').contains(byID('toasts'))")
            try page.keys(.escape)
            try page.wait("byID('toasts').parentElement === document.body")
        }
    }
}
