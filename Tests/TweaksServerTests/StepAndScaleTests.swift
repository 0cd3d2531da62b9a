// Tests steps and scales over the wire: descriptions, sets and refusals.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct StepAndScaleTests {
    private func replay(_ text: String, at location: SourceLocation = #_sourceLocation) throws {
        let registry = TweakRegistry()
        _ = Tweak(
            "Net", "Calls", "Patience", .seconds(10), in: .zero ... .seconds(3_600), scale: .logarithmic,
            registry: registry)
        _ = Tweak("Net", "Calls", "Width", 60.3, step: 0.5, registry: registry)
        _ = Tweak("Net", "Calls", "Count", 4, in: 0...9, step: 3, registry: registry)
        try Transcript(text).replay(.inTurn, with: try TestServer(registry: registry).connect(), at: location)
    }

    @Test func lines() throws {
        try replay(
            """
            > get Net
            Net/Calls/Patience = 10s    # duration 0s...1h logarithmic
            Net/Calls/Width = 60.3      # number step 0.5
            Net/Calls/Count = 4         # int 0...9 step 3
            ok
            > Net/Calls/Count = 5
            error out-of-range Net/Calls/Count: 5 is not on a step of 3 from 0; the nearest is 6
            > Net/Calls/Count = 6
            Net/Calls/Count = 6         # was 4
            ok rev 1
            > Net/Calls/Count = 4
            Net/Calls/Count = 4         # was 6
            ok rev 2
            > Net/Calls/Width = 60.5
            error out-of-range Net/Calls/Width: 60.5 is not on a step of 0.5 from 60.3; the nearest is 60.3
            > Net/Calls/Width += 0.5
            Net/Calls/Width = 60.8      # was 60.3
            ok rev 3
            """)
    }

    @Test func json() throws {
        try replay(
            #"""
            > json
            {"ok":true}
            > get Net/Calls/Patience
            {"ok":true,"rev":0,"tweaks":[{"path":"Net/Calls/Patience","kind":"duration","value":"10s","default":"10s","modified":false,"min":"0s","max":"1h","scale":"logarithmic"}]}
            > get Net/Calls/Width
            {"ok":true,"rev":0,"tweaks":[{"path":"Net/Calls/Width","kind":"number","value":60.3,"default":60.3,"modified":false,"step":0.5}]}
            """#)
    }
}
