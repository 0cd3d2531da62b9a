// Tests `wait`: conditions of each kind, and that it returns when one holds, also after a restart.

import Testing
import Tweaks
import TweaksServer
import TweaksSystem
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite struct WaitConditionTests {
    /// (the answer to `describe`, the condition, values for which it holds, values for which it does not)
    @Test(
        arguments: [
            (#"{"kind":"number"}"#, "A/B/C > 5", ["5.5", "6", "1e300"], ["5", "-7", "4.999"]),
            (#"{"kind":"number"}"#, "A/B/C <= 0.1", ["0.1", "0", "-0.0"], ["0.2", "1"]),
            (#"{"kind":"number"}"#, "A/B/C != 2", ["2.5"], ["2", "2.0"]),
            (#"{"kind":"int"}"#, "A/B/C >= 9007199254740993", ["9007199254740993"], ["9007199254740992"]),
            (
                #"{"kind":"int"}"#, "A/B/C < 18446744073709551615", ["18446744073709551614", "-1"],
                ["18446744073709551615"]
            ),
            (#"{"kind":"duration"}"#, "A/B/C < 1s", [#""999ms""#, #""-5s""#], [#""1s""#, #""1000ms""#, #""1m""#]),
            (#"{"kind":"bool"}"#, "A/B/C = true", ["true"], ["false"]),
            (#"{"kind":"string"}"#, #"A/B/C = "a b""#, [#""a b""#], [#""a""#, #""""#]),
            (#"{"kind":"choice"}"#, "A/B/C != left", [#""right""#], [#""left""#]),
            (#"{"kind":"color"}"#, "A/B/C = #FF0000", [##""#FF0000""##], [##""#FF0001""##]),
            (#"{"kind":"optional","of":"int"}"#, "A/B/C > 3", ["4"], ["3", "null"]),
            (#"{"kind":"optional","of":"int"}"#, "A/B/C = none", ["null"], ["3"]),
            (#"{"kind":"list","of":"int"}"#, "A/B/C = [1, 2]", ["[1,2]"], ["[2,1]", "[]"]),
        ])
    func itHolds(_ description: String, _ words: String, _ good: [String], _ bad: [String]) throws {
        let condition = try WaitCondition(WaitRequest([words]), of: JSON(description))
        for (values, wanted) in [(good, true), (bad, false)] {
            for value in values {
                let tweak = try #require(JSON(#"{"path":"A/B/C","value":\#(value)}"#))
                #expect(condition.holds(for: try #require(condition.value(in: tweak))) == wanted, "\(value) \(words)")
            }
        }
    }

    /// (the answer to `describe`, the condition, the error, its exit code)
    @Test(
        arguments: [
            (#"{"kind":"number"}"#, "A/B/C > many", "“many” is not a number, as A/B/C is", .usage),
            (#"{"kind":"number"}"#, "A/B/C > 1e-9223372036854775808", "is not a number", .usage),
            (#"{"kind":"int"}"#, "A/B/C = 1.5", "“1.5” is not an int", .usage),
            (#"{"kind":"bool"}"#, "A/B/C > false", "A/B/C is a bool, and these are not ordered; use = or !=", .usage),
            (#"{"kind":"optional","of":"int"}"#, "A/B/C > none", "not ordered", .usage),
            (#"{"kind":"action"}"#, "A/B/C = 1", "is an action, which has no value; name a tweak", .refused),
            (#"{"kind":"string","flags":["secret"]}"#, "A/B/C = x", "is secret, and its value is not shown", .refused),
            (#"{"kind":"tensor"}"#, "A/B/C = 1", "does not know; update tweakctl", .refused),
            ("{}", "A/B/C = 1", "update", .refused),
        ] as [(String, String, String, ExitCode)])
    func aWrongConditionIsRefused(_ description: String, _ words: String, _ text: String, _ code: ExitCode) throws {
        let request = try WaitRequest([words])
        let failure = #expect(throws: Failure.self) { try WaitCondition(request, of: JSON(description)) }
        #expect(failure?.code == code && failure?.description.contains(text) == true, "\(failure as Any)")
    }

    /// What a process sends as the value of another kind is none.
    @Test(arguments: [#""5""#, "true", "null", "[5]", "{}", "1e999"])
    func aValueOfAnotherKindIsNone(_ value: String) throws {
        let condition = try WaitCondition(WaitRequest(["A/B/C", ">", "5"]), of: JSON(#"{"kind":"number"}"#))
        #expect(JSON(#"{"value":\#(value)}"#).flatMap { condition.value(in: $0) } == nil)
    }

    @Test(
        arguments: [
            ([], nil), (["A/B/C"], nil), (["A/B/C", ">"], nil), (["A/B/C", "~", "5"], nil),
            (["A/B/C", ">", "5", "6"], nil),
            (["A/B/C > 5"], [">", "5"]), (["A/B/C", ">", "5"], [">", "5"]), (["A/B/C", "<", "-5"], ["<", "-5"]),
            ([#""A/B/C d" = "x y""#], ["=", "x y"]), (["A/B/C=5"], nil),
        ] as [([String], [String]?)])
    func wordsAreACondition(_ words: [String], _ wanted: [String]?) throws {
        guard let wanted else {
            let failure = #expect(throws: Failure.self) { try WaitRequest(words) }
            return #expect(failure?.description.contains("write a condition in quotes") == true)
        }
        let request = try WaitRequest(words)
        #expect([request.relation.rawValue, request.operand] == wanted)
    }
}

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct WaitTests {
    private let fixture: TweakctlFixture
    private let tweaks = ExampleTweaks()

    init() throws { fixture = try TweakctlFixture() }

    @Test func itReturnsAtOnceIfTheConditionHolds() throws {
        try fixture.server("bounce", registry: tweaks.registry)
        let result = try fixture.run("bounce", "wait", "Content/Text/Size", "=", "60")
        #expect(result.code == 0 && result.output == "Content/Text/Size = 60\n" && result.errors == "", "\(result)")
        let json = try fixture.run("--json", "bounce", "wait", "Content/Text/Size >= 60").output
        #expect(json == "{\"ok\":true,\"path\":\"Content/Text/Size\",\"value\":60,\"rev\":0}\n")
    }

    @Test func itReturnsWithTheChangeThatFulfillsIt() throws {
        try fixture.server("bounce", registry: tweaks.registry)
        let process = try fixture.start(["bounce", "wait", "Content/Text/Size > 70"])
        try waitUntilWatched()
        try tweaks.size.set(65)
        try tweaks.size.set(72)
        try tweaks.size.set(10)
        let result = try process.result()
        #expect(result.code == 0 && result.output == "Content/Text/Size = 72\n", "\(result)")
    }

    @Test func itGoesOnAfterARestart() throws {
        let server = try fixture.server("bounce", registry: tweaks.registry)
        let process = try fixture.start(["bounce", "wait", "Content/Text/Size", "=", "72"])
        try waitUntilWatched()
        server.stop()
        let later = ExampleTweaks()
        try later.size.set(72)
        try fixture.server("bounce", registry: later.registry)
        #expect(try process.result().output == "Content/Text/Size = 72\n")
    }

    /// A process that has just started may not have registered its tweaks yet, or have no place.
    @Test func itTriesAgainWhileTheNextStartIsNotReady() throws {
        let server = try FakeServer(fixture.directory.file("fake"))
        let process = try fixture.start(["-s", server.address, "wait", "A/B/C", "=", "5"])
        func start(_ value: Int) throws {
            let peer = try server.accept()
            try peer.answer("json on", #"{"ok":true}"#)
            try peer.answer("describe A/B/C", #"{"ok":true,"path":"A/B/C","kind":"int"}"#)
            try peer.answer("watch A/B/C", #"{"ok":true,"rev":1,"tweaks":[{"path":"A/B/C","value":\#(value)}]}"#)
            try peer.close()
        }
        try start(4)
        try server.accept().close()
        var peer = try server.accept()
        try peer.answer("json on", #"{"ok":false,"error":{"code":"too-many","message":"no place"}}"#)
        peer = try server.accept()
        try peer.answer("json on", #"{"ok":true}"#)
        try peer.answer("describe A/B/C", #"{"ok":false,"error":{"code":"unknown-tweak","message":"none"}}"#)
        try start(5)
        let result = try process.result()
        #expect(result.code == 0 && result.output == "A/B/C = 5\n" && result.errors == "", "\(result)")
    }

    /// How far it comes before the time is over depends on the machine.
    @Test func itGivesUpInTime() throws {
        try fixture.server("bounce", registry: tweaks.registry)
        let result = try fixture.run("--timeout", "300ms", "bounce", "wait", "Content/Text/Size > 70")
        #expect(result.hasError("Content/Text/Size > 70 has not come true within 300ms; ", code: 4), "\(result)")
    }

    /// Only the condition counts.
    @Test func aClosedOutputDoesNotEndIt() throws {
        try fixture.server("bounce", registry: tweaks.registry)
        let waiting = "\(fixture.command()) bounce --timeout 300ms wait 'Content/Text/Size > 70' | true"
        #expect(try fixture.shell("bash -c \"set -o pipefail; \(waiting)\" 2>/dev/null; echo $?") == "4\n")
    }

    @Test(
        arguments: [
            (["No/Such/Tweak", "=", "1"], "unknown-tweak", 1),
            (["Content/Text/Size", "=", "big"], "is not a number", 2),
            (["Content/Text/Size"], "write a condition in quotes", 2),
        ])
    func anErrorEndsIt(_ words: [String], _ text: String, _ code: Int32) throws {
        try fixture.server("bounce", registry: tweaks.registry)
        let result = try fixture.run(["bounce", "wait"] + words)
        #expect(result.hasError(text, code: code), "\(result)")
    }

    @Test func withoutAProcessItDoesNotWait() throws {
        #expect(try fixture.run("bounce", "wait", "A/B/C", "=", "1").code == 3)
    }

    /// Waits until the process has a watcher.
    private func waitUntilWatched() throws {
        let watching = try fixture.start(["bounce", "-"])
        defer { watching.endInput() }
        repeat {
            watching.type("stats\n")
        } while try watching.lines(through: "  watchers: ").last != "  watchers: 1"
    }
}
