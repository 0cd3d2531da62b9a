// On a telephone, and beside something else: everything is reachable, and nothing has to be moved sideways.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct SmallScreenTests {
    private static let places = ["history", "presets", "import", "people"]

    /// Opens one of the places behind the button “More”, which takes its menu away again.
    private func go(to place: String, _ page: PanelView) throws {
        try page.element("more").click()
        try page.wait("isShown(document.getElementById(given[0]))", .string(place))
        try page.element(place).click()
        try page.wait("document.querySelector('#pane h2') != null && document.getElementById('drawer').open")
        try page.wait("!isShown(document.getElementById('places'))")
    }

    /// At the least width nothing has to be moved sideways to be read, wherever one is.
    @Test func theSmallestScreen() throws {
        let host = try PanelHost()
        try host.visit(width: 320) { page in
            try page.expectRoom()
            for place in Self.places {
                try go(to: place, page)
                try page.expectRoom()
                try page.browser.perform(.keys(.escape))
                try page.wait("!document.getElementById('drawer').open")
            }
            for part in ["more", "explain"] { try page.click("Real", part) }
            try page.wait("row('Real').querySelector('table') != null")
            try page.expectRoom()
            try page.click("Colour", "swatch")
            try page.wait("isShown(document.getElementById('picker'))")
            try page.expectRoom()
            try page.browser.attach("panel-320")
        }
    }

    /// What is a row of buttons on a large screen is behind one here.
    @Test(arguments: [320, 360, 760]) func placesAreBehindOneButton(_ width: Int) throws {
        let host = try PanelHost()
        try host.visit(width: width, touch: width == 360) { page in
            for place in Self.places {
                #expect(try page.ask("isShown(document.getElementById(given[0]))", .string(place)) == false)
            }
            try page.element("more").click()
            for place in Self.places { try page.wait("isShown(document.getElementById(given[0]))", .string(place)) }
            try page.expectRoom()
            let inside = """
                ((box) => box.left >= 0 && box.right <= innerWidth && box.top > 0)
                    (document.getElementById('places').getBoundingClientRect())
                """
            #expect(try page.ask(inside) == true)
            for scheme in Browser.Scheme.allCases {
                try page.browser.change(to: scheme)
                try page.browser.attach("panel-more-\(width)-\(scheme)")
            }
            // A wider window has them in a row again.
            try page.browser.resize(width: 900, height: 800)
            try page.wait("document.querySelector('#places:popover-open') == null")
            try page.element("presets").click()
            try page.wait("document.getElementById('drawer').open")
        }
    }

    @Test func theMenuByKeys() throws {
        let host = try PanelHost()
        try host.visit(width: 360) { page in
            try page.browser.run("document.getElementById('more').focus()")
            try page.browser.perform(.keys(.enter))
            try page.wait("isShown(document.getElementById('places'))")
            try page.browser.perform(.keys(.escape))
            try page.wait("!isShown(document.getElementById('places')) && document.activeElement.id === 'more'")
            try page.browser.perform(.keys(.enter))
            try page.wait("isShown(document.getElementById('places'))")
            try page.browser.perform(.keys(.tab, .tab))
            try page.wait("document.activeElement.id === 'presets'")
            try page.browser.perform(.keys(.enter))
            try page.wait("document.getElementById('pane').ariaLabel === 'Presets'")
            // The keyboard comes back to where it was.
            try page.browser.perform(.keys(.escape))
            try page.wait("!document.getElementById('drawer').open && document.activeElement.id === 'more'")
        }
    }
}
