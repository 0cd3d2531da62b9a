// Tests the evaluation of tweaks as OpenFeature's flags: values, reasons, errors, and the tag of all flags.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@testable import TweaksPanel

@Suite(.blocking) struct OFREPServingTests {
    private static let path = "/ofrep/v1/evaluate/flags"

    private func registry() throws -> TweakRegistry {
        let registry = ExampleTweaks().registry
        _ = Tweak("Flag", "Kinds", "Switch", true, registry: registry)
        _ = Tweak("Flag", "Kinds", "Whole", 3, registry: registry)
        _ = Tweak("Flag", "Kinds", "Large", UInt64.max, registry: registry)
        _ = Tweak("Flag", "Kinds", "Point", TweakPoint(x: 1, y: 2.5), registry: registry)
        _ = Tweak("Flag", "Kinds", "List", [1, 2], registry: registry)
        _ = Tweak("Flag", "Kinds", "Curve", TweakCurve.easeIn, registry: registry)
        _ = Tweak("Flag", "Kinds", "None", Int?.none, registry: registry)
        _ = Tweak("Flag", "Kinds", "Some", Int?.some(4), registry: registry)
        _ = Tweak("Flag", "Odd names", "What*?", "starred", registry: registry)
        try registry.commit(origin: .code) { $0.set("Content/Text/Alignment", .choice("center")) }
        return registry
    }

    /// A key, and what its response contains.
    @Test(arguments: [
        ("Flag/Kinds/Switch", #"{"key":"Flag/Kinds/Switch","value":true,"reason":"STATIC","variant":"default"}"#),
        ("Flag%2FKinds%2FWhole", #""key":"Flag/Kinds/Whole","value":3,"#), ("Flag/Kinds%2fSome", #""value":4,"#),
        ("Flag/Kinds/Large", #""value":18446744073709551615,"#), ("Content/Text/Size", #""value":60.0,"#),
        ("Content/Text/Font%20Name", #""value":"Avenir Next","#), ("Content/Text/Fade", #""value":"250ms","#),
        ("Content/Text/Color", ##""value":"#000000FF","##), ("Flag/Odd%20names/What*%3F", #""value":"starred","#),
        ("Content/Text/Alignment", #""value":"center","reason":"STATIC","variant":"override"}"#),
        ("Flag/Kinds/Point", #""value":{"x":1.0,"y":2.5},"#), ("Flag/Kinds/List", #""value":{"values":[1,2]},"#),
        ("Flag/Kinds/Curve", #""value":"cubic-bezier(0.42,0,1,1)","#), ("Player/Status/Frames", #""value":0.0,"#),
    ])
    func aTweakIsAFlag(_ key: String, _ holds: String) throws {
        let panel = try PanelServer([.named("eye", .read)], registry: registry()).connect("eye")
        let answer = try panel.ask("POST", "\(Self.path)/\(key)", #"{"context":{"targetingKey":"a","plan":[1]}}"#)
        #expect(answer.status == 200 && answer.body.contains(holds), "\(answer.body)")
    }

    /// Secrets, actions, an optional without a value, patterns, and what is hidden are like what does not exist.
    @Test(arguments: [
        "Player/Audio/Token", "Player/Audio/Mute", "Flag/Kinds/None", "Flag/Kinds/*", "Flag/Kinds", "Switch", "*",
        "Nothing/At/All", "Content/Text/Size/More", "Content/Text/Size",
    ])
    func whatIsNoFlagIsNotFound(_ key: String) throws {
        let server = try PanelServer([.named("part", "read:Flag", "read:Player", "run:Player")], registry: registry())
        let answer = try server.connect("part").ask("POST", "\(Self.path)/\(key)", "{}")
        #expect(answer.status == 404 && answer.json["errorCode"] as? String == "FLAG_NOT_FOUND", "\(answer.body)")
        #expect(answer.json["key"] as? String == key && answer.json["errorDetails"] is String)
    }

    /// A body, the status, and the error code.
    @Test(
        arguments: [
            ("{", 400, "PARSE_ERROR"), ("[]", 400, "PARSE_ERROR"), (#"{"a":1,"a":2}"#, 400, "PARSE_ERROR"),
            (#"{"context":7}"#, 400, "INVALID_CONTEXT"), (#"{"context":{"targetingKey":7}}"#, 400, "INVALID_CONTEXT"),
            (#"{"context":null}"#, 400, "INVALID_CONTEXT"), (#"{"context":{}}"#, 200, nil), ("{}", 200, nil),
            (#"{"flags":["a"]}"#, 200, nil),
        ] as [(String, Int, String?)])
    func theContextIsCheckedAndIgnored(_ body: String, _ status: Int, _ code: String?) throws {
        let panel = try PanelServer(registry: registry()).connect()
        for target in ["\(Self.path)/Content/Text/Size", Self.path] {
            let answer = try panel.ask("POST", target, body)
            #expect(answer.status == status && answer.json["errorCode"] as? String == code, "\(answer.body)")
            let key = code == nil || target == Self.path ? nil : "Content/Text/Size"
            if code != nil { #expect(answer.json["key"] as? String == key) }
        }
    }

    @Test func itHasTheRightsAndRefusalsOfTheOtherRoutes() throws {
        let server = try PanelServer([.named("run", "run:Player")], registry: registry())
        let key = "\(Self.path)/Content/Text/Size"
        #expect(try server.connect(nil).ask("POST", key, "{}").status == 401)
        #expect(try server.connect("nobody").ask("POST", key, "{}").status == 401)
        #expect(try server.connect("run").ask("POST", key, "{}").status == 404)
        let panel = try server.connect()
        #expect(try panel.ask("GET", key).status == 405)
        #expect(try panel.ask("POST", "/ofrep/v1/other", "{}").json["errorCode"] as? String == "GENERAL")
        #expect(try panel.ask("POST", key, nil, ["Content-Type: text/plain", "Content-Length: 0"]).status == 415)
        #expect(try panel.ask("POST", key, "{}", ["Origin: http://elsewhere.example"]).status == 403)
    }

    /// The layer, the origin, the rollout, and the reason. An author's name is no rollout.
    @Test(
        arguments: [
            (.fleet, "fleet: ada, rollout r1, etcd revision 3", "r1", "SPLIT"),
            (.fleet, "fleet: ada, etcd revision 3", nil, "STATIC"),
            (.fleet, "fleet: ada, rollout r1, etcd revision 3", nil, "STATIC"),
            (.override, "uid 1000", nil, "STATIC"), (.preview, "uid 1000", "r1", "STATIC"),
        ] as [(TweakLayer, String, String?, String)])
    func aMemberOfARolloutIsASplit(
        _ layer: TweakLayer, _ origin: String, _ rollout: String?, _ reason: String
    ) throws {
        let tweak = try #require(ExampleTweaks().registry["Content/Text/Size"])
        var line = TweakLine(tweak.node, .number(61), .none)
        line.source = TweakLine.Source(layer, TweakOrigin(origin).ofRollout(rollout))
        let flag = try #require(OFREP.flag(line))
        #expect(flag["reason"] == .string(reason) && flag["variant"] == .string(layer.name))
    }

    // MARK: All flags

    private func tag(_ panel: PanelClient, _ known: String? = nil) throws -> (status: Int, tag: String, body: String) {
        let answer = try panel.ask("POST", Self.path, "{}", known.map { ["If-None-Match: \($0)"] } ?? [])
        return (answer.status, try #require(answer["ETag"]), answer.body)
    }

    @Test func allFlagsAreThoseThatTheClientSees() throws {
        let server = try PanelServer([.named("part", "read:Player", "run:Player")], registry: registry())
        let part = try tag(server.connect("part"))
        #expect(
            part.body
                == #"{"flags":[{"key":"Player/Status/Frames","value":0.0,"reason":"STATIC","variant":"published"}]}"#)
        let panel = try server.connect()
        let all = try panel.ask("POST", Self.path, "{}")
        #expect(all.items("flags").count == 15 && all["ETag"] != part.tag)
        let none = try PanelServer(registry: TweakRegistry()).connect().ask("POST", Self.path, "{}")
        #expect(none.body == #"{"flags":[]}"#)
    }

    /// A commit to what the client does not see changes nothing for it; a figure does, without a commit.
    @Test func theTagChangesWithTheVisibleValuesAlone() throws {
        let tweaks = ExampleTweaks()
        let server = try PanelServer([.named("part", "read:Player")], registry: tweaks.registry)
        let (all, part) = (try server.connect(), try server.connect("part"))
        let (first, seen) = (try tag(all).tag, try tag(part).tag)
        #expect(try tag(all, first) == (304, first, ""))
        #expect(try tag(part, "\"other\", W/\(seen)") == (304, seen, ""))
        tweaks.size.value = 61
        let second = try tag(all, first)
        #expect(second.status == 200 && second.tag != first && second.body.contains(#""value":61.0"#))
        #expect(try tag(part, seen).status == 304)
        tweaks.frames.value = 25
        #expect(try tag(part, seen).status == 200)
        tweaks.frames.value = 0
        tweaks.size.reset()
        #expect(try tag(all, first).status == 304 && tag(part, seen).status == 304)
    }

    @Test func manyFlagsAreOneResponse() throws {
        let panel = try PanelServer(registry: .many(3_000)).connect()
        let answer = try panel.ask("POST", Self.path, "{}")
        #expect(answer.items("flags").count == 3_007 && answer["Content-Length"] == "\(answer.body.utf8.count)")
        // The connection goes on.
        #expect(try panel.ask("GET", "/healthz").body == "ok")
    }
}
