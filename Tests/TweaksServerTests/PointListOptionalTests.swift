// Tests points, lists and optionals over the wire: listings, sets, refusals, JSON and completion.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct PointListOptionalTests {
    private func replay(_ text: String, at location: SourceLocation = #_sourceLocation) throws {
        let registry = TweakRegistry()
        _ = Tweak(
            "Kinds", "New", "Offset", TweakPoint(x: 12, y: 40), in: .init(x: 0...320, y: 0...200), registry: registry)
        _ = Tweak("Kinds", "New", "Delays", [1, 2, 5], in: 0...60, maxLength: 4, registry: registry)
        _ = Tweak("Kinds", "New", "Hosts", ["a", "b, c"], registry: registry)
        _ = Tweak<Int?>("Kinds", "New", "Limit", nil, in: 1...100, registry: registry)
        try Transcript(text).replay(.inTurn, with: try TestServer(registry: registry).connect(), at: location)
    }

    @Test("are listed, set by one token, and refused with what is right")
    func lines() throws {
        try replay(
            """
            > get Kinds
            Kinds/New/Offset = 12,40        # point 0...320,0...200
            Kinds/New/Delays = [1, 2, 5]    # list of int 0...60 up to 4 values
            Kinds/New/Hosts = ["a", "b, c"] # list of string
            Kinds/New/Limit = none          # optional of int 1...100
            ok
            > Kinds/New/Offset = 20,5.5
            Kinds/New/Offset = 20,5.5   # was 12,40
            ok rev 1
            > set Kinds/New/Delays [3, 4]
            Kinds/New/Delays = [3, 4]   # was [1, 2, 5]
            ok rev 2
            > Kinds/New/Hosts = ["x ] y", plain] # two
            Kinds/New/Hosts = ["x ] y", "plain"] # was ["a", "b, c"]
            ok rev 3
            > Kinds/New/Limit = 40*2
            Kinds/New/Limit = 80        # was none
            ok rev 4
            > Kinds/New/Limit = none
            Kinds/New/Limit = none      # was 80
            ok rev 5
            > Kinds/New/Offset = 1,201
            error out-of-range Kinds/New/Offset: 201 is outside 0...200
            > Kinds/New/Delays = []
            Kinds/New/Delays = []       # was [3, 4]
            ok rev 6
            > Kinds/New/Delays = [1,2,3,4,5]
            error out-of-range Kinds/New/Delays: 5 values are too many; at most 4
            > Kinds/New/Delays = 7
            error bad-value Kinds/New/Delays: “7” is no list; write a list such as [1, 2, 3], in 0...60
            > undo
            Kinds/New/Delays = [3, 4]   # was []
            ok rev 7 undid 6 by …
            > modified
            Kinds/New/Offset = 20,5.5            # point 0...320,0...200, default 12,40
            Kinds/New/Delays = [3, 4]            # list of int 0...60 up to 4 values, default [1, 2, 5]
            Kinds/New/Hosts = ["x ] y", "plain"] # list of string, default ["a", "b, c"]
            ok
            """)
    }

    @Test("are JSON's arrays and null")
    func json() throws {
        try replay(
            #"""
            > json
            {"ok":true}
            > get Kinds/New/Offset
            {"ok":true,"rev":0,"tweaks":[{"path":"Kinds/New/Offset","kind":"point","value":[12,40],"default":[12,40],"modified":false,"min":[0,0],"max":[320,200]}]}
            > get Kinds/New/Delays
            {"ok":true,"rev":0,"tweaks":[{"path":"Kinds/New/Delays","kind":"list","value":[1,2,5],"default":[1,2,5],"modified":false,"of":"int","min":0,"max":60,"maxLength":4}]}
            > get Kinds/New/Limit
            {"ok":true,"rev":0,"tweaks":[{"path":"Kinds/New/Limit","kind":"optional","value":null,"default":null,"modified":false,"of":"int","min":1,"max":100}]}
            > set Kinds/New/Limit 5
            {"ok":true,"rev":1,"tweaks":[{"path":"Kinds/New/Limit","kind":"optional","value":5,"was":null}]}
            """#)
    }
}
