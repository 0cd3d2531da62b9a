// Tests the page with five thousand tweaks.

import Testing
import Tweaks
import TweaksTestSupport

/// Registries with many tweaks of every kind that has a control.
enum LargeRegistry {
    static func make(_ count: Int) -> TweakRegistry {
        let registry = TweakRegistry()
        for number in 0..<count {
            let (category, collection) = ("Category \(number / 500)", "Group \(number / 25 % 20)")
            switch number % 5 {
            case 0:
                _ = Tweak(
                    category, collection, "Size \(number)", 16, in: 0...100, help: "The size of \(number)",
                    registry: registry)
            case 1: _ = Tweak(category, collection, "Shown \(number)", true, registry: registry)
            case 2: _ = Tweak(category, collection, "Tint \(number)", TweakColor.black, registry: registry)
            case 3: _ = Tweak(category, collection, "Title \(number)", "Tweaks", registry: registry)
            default:
                _ = Tweak(
                    category, collection, "Scale \(number)", 1.5, in: 0...10, step: 0.5, unit: "px", registry: registry)
            }
        }
        return registry
    }
}

@Suite(.browsing, .tags(.browser), .needsBrowser) struct ManyTweaksPageTests {
    @Test func fiveThousandTweaksAreListedFoundAndChanged() throws {
        try PanelHost.visit(LargeRegistry.make(5_000)) { host, page in
            try page.wait("document.querySelector('#side li').textContent.includes('5000')")
            // Rows are made where they are near the view: their number decides how soon the page is there.
            try page.expect("document.querySelectorAll('#list .row').length < 100")
            #expect(try page.ask("document.querySelectorAll('#side li').length") == 12)
            try page.type("scale 4999", over: page.element("search"))
            try page.wait("listed()[0] === 'Category 9/Group 19/Scale 4999'")
            try page.press("Category 9/Group 19/Scale 4999", "slider", .right, sets: .number(2))
            try page.type("size", over: page.element("search"))
            try page.wait(
                "listed().length > 5 && /best 100 of [0-9]+/.test(document.querySelector('#list h2').textContent)")
            try page.browser.run("location.hash = '#/Category%207/Group%2011/Size%203775'")
            try page.wait("document.activeElement === row('Category 7/Group 11/Size 3775')")
            // A change outside the view.
            try host.set("\"Category 9/Group 19/Title 4998\"", "moved")
            try page.browser.run("location.hash = '#/Category%209/Group%2019/Title%204998'")
            try page.wait("field('Category 9/Group 19/Title 4998') === 'moved'")
            try page.browser.run("location.hash = '#/'")
            try page.wait("listed().length > 15")
            // The end of the whole list.
            try page.wait(
                """
                (scrollTo(0, document.documentElement.scrollHeight),
                    isShown([...document.querySelectorAll('#list .card')].at(-1).querySelector('[data-path]')))
                """)
            try page.element("modified-only").click()
            try page.wait("String(listed()) === 'Category 9/Group 19/Title 4998,Category 9/Group 19/Scale 4999'")
        }
    }
}
