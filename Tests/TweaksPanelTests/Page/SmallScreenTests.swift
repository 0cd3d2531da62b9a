// Tests narrow windows: everything is reachable, and nothing scrolls sideways.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct SmallScreenTests {
    private static let places = ["history", "presets", "import", "people"]

    /// Opens a drawer by the menu behind the button “More”, which closes again.
    private func go(to place: String, _ page: PanelView) throws {
        try page.element("more").click()
        try page.wait("isShown(byID(given[0]))", .string(place))
        try page.open(place, until: "document.querySelector('#pane h2') != null && byID('drawer').open")
        try page.wait("!isShown(byID('places'))")
    }

    @Test func nothingScrollsSidewaysAt320Pixels() throws {
        try PanelHost.visit(width: 320) { _, page in
            try page.expectRoom()
            for place in Self.places {
                try go(to: place, page)
                try page.expectRoom()
                try page.keys(.escape)
                try page.wait("!byID('drawer').open")
            }
            for part in ["more", "explain"] { try page.click("Real", part) }
            try page.wait("row('Real').querySelector('table') != null")
            try page.expectRoom()
            try page.openPicker()
            try page.expectRoom()
            try page.browser.attach("panel-320")
        }
    }

    @Test(arguments: [320, 360, 760]) func drawersAreInAMenuBehindOneButton(_ width: Int) throws {
        try PanelHost.visit(width: width, touch: width == 360) { _, page in
            for place in Self.places {
                #expect(try page.ask("isShown(byID(given[0]))", .string(place)) == false)
            }
            try page.element("more").click()
            for place in Self.places { try page.wait("isShown(byID(given[0]))", .string(place)) }
            try page.expectRoom()
            let inside = """
                ((box) => box.left >= 0 && box.right <= innerWidth && box.top > 0)
                    (byID('places').getBoundingClientRect())
                """
            #expect(try page.ask(inside) == true)
            try page.attachPictures("panel-more-\(width)")
            // A wider window has a row of buttons again.
            try page.browser.resize(width: 900, height: 800)
            try page.wait("document.querySelector('#places:popover-open') == null")
            try page.open("presets", until: "byID('drawer').open")
        }
    }

    @Test func theMenuIsOperatedByKeys() throws {
        try PanelHost.visit(width: 360) { _, page in
            try page.ask("byID('more').focus()")
            try page.keys(.enter)
            try page.wait("isShown(byID('places'))")
            try page.keys(.escape)
            try page.wait("!isShown(byID('places')) && document.activeElement.id === 'more'")
            try page.keys(.enter)
            try page.wait("isShown(byID('places'))")
            try page.keys(.tab, .tab)
            try page.wait("document.activeElement.id === 'presets'")
            try page.keys(.enter)
            try page.wait("byID('pane').ariaLabel === 'Presets'")
            // The focus returns.
            try page.keys(.escape)
            try page.wait("!byID('drawer').open && document.activeElement.id === 'more'")
        }
    }
}
