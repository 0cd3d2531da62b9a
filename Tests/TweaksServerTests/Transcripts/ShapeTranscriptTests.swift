// Replays conversations about points, lists, optionals, steps and scales.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct ShapeTranscriptTests {
    private static let conversations = Conversation.all(
        #"""
        ## points, lists and optionals are listed, set by one token, and refused with an example
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
        > Kinds/New/Delays = many
        error bad-value Kinds/New/Delays: “many” is not a list; write a list such as [1, 2, 3], in 0...60
        > Kinds/New/Delays = 7,many
        error bad-value Kinds/New/Delays: “many” is not an int; write a whole number of 64 bits such as 42 or 0x2a, in 0...60
        > Kinds/New/Hosts = DE, AT
        error usage write a list such as ["a", "b"]: Kinds/New/Hosts = […]
        > set Kinds/New/Hosts DE, AT
        error usage write a list such as ["a", "b"]: set Kinds/New/Hosts […]
        > Kinds/New/Hosts = ["DE"] for 1m
        error usage only set takes a time: set Kinds/New/Hosts ["DE"] for 1m
        > undo
        Kinds/New/Delays = [3, 4]   # was []
        ok rev 7 undid 6 by …
        > Kinds/New/Hosts = DE,AT
        Kinds/New/Hosts = ["DE", "AT"] # was ["x ] y", "plain"]
        ok rev 8
        > Kinds/New/Hosts = "DE, 'A, T'"
        Kinds/New/Hosts = ["DE", "A, T"] # was ["DE", "AT"]
        ok rev 9
        > Kinds/New/Limit = 2*40
        Kinds/New/Limit = 80        # was none
        ok rev 10
        > Kinds/New/Limit = ""
        Kinds/New/Limit = none      # was 80
        ok rev 11
        > modified
        Kinds/New/Offset = 20,5.5        # point 0...320,0...200, default 12,40
        Kinds/New/Delays = [3, 4]        # list of int 0...60 up to 4 values, default [1, 2, 5]
        Kinds/New/Hosts = ["DE", "A, T"] # list of string, default ["a", "b, c"]
        ok
        ## steps and scales are listed, and a value off its step is refused
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
        ## points and lists are arrays in JSON, and none is null
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
        ## curves are texts of CSS, in JSON too
        > Card/Drop/Curve = ease-in-out
        Card/Drop/Curve = cubic-bezier(0.42,0,0.58,1) # was cubic-bezier(0.2,0,0,1)
        ok rev 1
        > set Card/Drop/Curve "steps(4, jump-both)"
        Card/Drop/Curve = steps(4,jump-both) # was cubic-bezier(0.42,0,0.58,1)
        ok rev 2
        > Card/Drop/Curve = cubic-bezier(.2,0,0,1)
        Card/Drop/Curve = cubic-bezier(0.2,0,0,1) # was steps(4,jump-both)
        ok rev 3
        > Card/Drop/Curve = cubic-bezier(.2, 0, 0, 1)
        error usage quote a value of several words: Card/Drop/Curve = "cubic-bezier(.2, 0, 0, 1)"
        > Card/Drop/Curve = cubic-bezier(1.5,0,0,1)
        error bad-value Card/Drop/Curve: “cubic-bezier(1.5,0,0,1)” is not a curve; write cubic-bezier(x1,y1,x2,y2), steps(4,end) or a CSS name such as ease-out; x1 is 1.5; a time is from 0 to 1
        > Card/Drop/Curve = eas
        error bad-value Card/Drop/Curve: “eas” is not a curve; write cubic-bezier(x1,y1,x2,y2), steps(4,end) or a CSS name such as ease-out; did you mean ease?
        > Card/Drop/Curve += ease
        error bad-value Card/Drop/Curve is a curve; += and -= are for int, number and duration, within 64 bits
        > complete "set Card/Drop/Curve ease-"
          ease-in
          ease-out
          ease-in-out
        ok
        > export Card/Drop/Curve
        Card/Drop/Curve = cubic-bezier(0.2,0,0,1)
        ok
        > json
        {"ok":true}
        > get Card/Drop/Curve
        {"ok":true,"rev":3,"tweaks":[{"path":"Card/Drop/Curve","kind":"curve","value":"cubic-bezier(0.2,0,0,1)","default":"cubic-bezier(0.2,0,0,1)","modified":false,"layer":"override","overridden":true,"by":"…","stale":true}]}
        ## a part of a group has its template
        > describe "Card/Drop/Spring response"
          path: Card/Drop/Spring response
          kind: duration
          value: 500ms
          default: 500ms
          modified: false
          min: 10ms
          max: 10s
          help: Period of one oscillation without damping; shorter is stiffer
          template: name spring, path Card/Drop/Spring, part response
          source: …
        ok
        > json
        {"ok":true}
        > get "Card/Drop/Spring damping fraction"
        {"ok":true,"rev":0,"tweaks":[{"path":"Card/Drop/Spring damping fraction","kind":"number","value":0.825,"default":0.825,"modified":false,"min":0,"max":5,"help":"1 stops without overshoot, below 1 oscillates, above 1 is sluggish","template":{"name":"spring","path":"Card/Drop/Spring","part":"damping fraction"}}]}
        ## steps and scales are fields in JSON
        > json
        {"ok":true}
        > get Net/Calls/Patience
        {"ok":true,"rev":0,"tweaks":[{"path":"Net/Calls/Patience","kind":"duration","value":"10s","default":"10s","modified":false,"min":"0s","max":"1h","scale":"logarithmic"}]}
        > get Net/Calls/Width
        {"ok":true,"rev":0,"tweaks":[{"path":"Net/Calls/Width","kind":"number","value":60.3,"default":60.3,"modified":false,"step":0.5}]}
        """#)

    private static func registry() -> TweakRegistry {
        let registry = TweakRegistry()
        _ = Tweak(
            "Kinds", "New", "Offset", TweakPoint(x: 12, y: 40), in: .init(x: 0...320, y: 0...200), registry: registry)
        _ = Tweak("Kinds", "New", "Delays", [1, 2, 5], in: 0...60, maxLength: 4, registry: registry)
        _ = Tweak("Kinds", "New", "Hosts", ["a", "b, c"], registry: registry)
        _ = Tweak<Int?>("Kinds", "New", "Limit", nil, in: 1...100, registry: registry)
        _ = Tweak("Card", "Drop", "Curve", TweakCurve(0.2, 0, 0, 1), registry: registry)
        _ = TweakGroup("Card", "Drop", "Spring", TweakSpring(), registry: registry)
        _ = Tweak(
            "Net", "Calls", "Patience", .seconds(10), in: .zero ... .seconds(3_600), scale: .logarithmic,
            registry: registry)
        _ = Tweak("Net", "Calls", "Width", 60.3, step: 0.5, registry: registry)
        _ = Tweak("Net", "Calls", "Count", 4, in: 0...9, step: 3, registry: registry)
        return registry
    }

    @Test(arguments: conversations) func shapesAreShownAndChanged(_ conversation: Conversation) throws {
        try conversation.replay(in: Self.registry())
    }
}
