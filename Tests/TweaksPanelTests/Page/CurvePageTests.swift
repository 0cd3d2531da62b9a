// Tests the control of a timing curve: a field that takes CSS, and shows what a name means.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct CurvePageTests {
    @Test func aFieldTakesCurvesOfCSSAndRefusesOthers() throws {
        let registry = TweakRegistry()
        _ = try registry.register("Kinds", "Basic", "Curve", TweakCurve(0.2, 0, 0, 1))
        try PanelHost.visit(registry, expecting: [PanelView.refused(400)]) { host, page in
            try page.wait("field('Curve') === '0.2,0,0,1'")
            try page.type("steps(4, start)", over: "Curve", "field", then: .enter, sets: .curve(.steps(4, .start)))
            try page.wait("field('Curve') === 'steps(4,start)' && text('Curve', 'meaning') === ''")
            try page.type("ease-in", over: "Curve", "field", then: .enter, sets: .curve(.easeIn))
            try page.wait("text('Curve', 'meaning') === 'ease-in = cubic-bezier(0.42,0,1,1)'")
            try page.type("steps(0)", over: "Curve", "field", then: .enter)
            #expect(try page.error("Curve").contains("with end it is from 1 to 1000"))
            #expect(host.value("Curve") == .curve(.easeIn))
        }
    }
}
