// Tests declared arguments: validated before the body runs, found by name, completed by defaults.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct ActionArgumentTests {
    private enum Mode: String, CaseIterable, TweakConvertible { case once, loop }

    private let registry = TweakRegistry()
    private let runs = Recorder<[String]>()

    private func play() -> TweakAction {
        tweakAction(
            "Player", "Audio", "Play",
            arguments: [
                .init("file", .string), .init("volume", .number, in: 0...1, default: 0.5),
                .init("mode", choices: Mode.self, default: .once), .init("times", .int, in: 1..., default: 1),
                .init("fade", .duration, in: .zero ... .seconds(5), default: .milliseconds(250)),
                .init("tint", .color, default: TweakColor("#f00") ?? .black), .init("loud", .bool, default: false),
                .init("bus", choices: ["main", "side"], default: "main"),
            ], registry: registry
        ) { [runs] arguments in
            runs.note(Array(arguments))
            let (volume, isLoud): (Double, Bool) = (try arguments["volume"], try arguments["loud"])
            let (mode, times) = (try arguments["mode", as: Mode.self], try arguments["times", as: Int.self])
            let fade = try arguments["fade", as: Duration.self]
            let tint: TweakColor = try arguments["tint"]
            let (file, bus): (String, String) = (try arguments["file"], try arguments["bus"])
            return "\(file) \(volume) \(mode) \(times) \(fade) \(TweakValue.color(tint).text) \(isLoud) \(bus)"
        }
    }

    @Test func theBodyReceivesTypedValuesAndDefaults() async throws {
        let action = play()
        #expect(try await action.run(["a.wav"]) == "a.wav 0.5 once 1 0.25 seconds #FF0000FF false main")
        #expect(
            try await action.run(["b", "1", "loop", "0x10", "1.5s", "red", "yes", "side"])
                == "b 1.0 loop 16 1.5 seconds #FF0000FF true side")
        // By position it reads the given texts, and those of the defaults.
        #expect(runs.all.first == ["a.wav", "0.5", "once", "1", "250ms", "#FF0000FF", "false", "main"])
    }

    private static let usage = "use: run Player/Audio/Play FILE [VOLUME] [MODE] [TIMES] [FADE] [TINT] [LOUD] [BUS]"

    @Test(arguments: [
        ([String](), TweakError.Code.usage, "file is missing"),
        (Array(repeating: "1", count: 9), .usage, "takes at most 8, but 9 were given"),
        (["a", "7"], .outOfRange, "volume: 7 is outside 0...1"),
        (
            ["a", "loud"], .badValue,
            "volume: “loud” is not a number; write a finite number such as 72 or 1.5e3, in 0...1"
        ),
        (["a", "1", "Loop"], .notAChoice, "mode: “Loop” is none of once, loop; did you mean loop?"),
        (["a", "1", "loop", "0"], .outOfRange, "times: 0 is outside 1..."),
        (["a", "1", "loop", "1", "1h"], .outOfRange, "fade: 1h is outside 0s...5s"),
    ])
    func invalidArgumentsAreRefusedWithReasonAndUsage(
        _ arguments: [String], _ code: TweakError.Code, _ text: String
    ) async {
        let error = await refusal(of: play(), arguments)
        #expect(error?.code == code && error?.path?.joined == "Player/Audio/Play")
        #expect(error?.message == "Player/Audio/Play: \(text); \(Self.usage)")
        #expect(runs.all.isEmpty)
    }

    @Test func anActionWithoutArgumentsRefusesAny() async throws {
        let action = tweakAction("A", "B", "C", arguments: [], registry: registry) { "\($0.count)" }
        #expect(try await action.run() == "0")
        let error = TweakError(.usage, "A/B/C: takes no arguments; use: run A/B/C", path: action.path)
        #expect(await refusal(of: action, ["x"]) == error)
    }

    @Test func anActionWithoutDeclaredArgumentsAcceptsAny() async throws {
        let action = tweakAction("A", "B", "C", registry: registry) { $0.joined(separator: "+") }
        #expect(try await action.run(["a", "b"]) == "a+b")
        #expect(action.node.signature == nil)
    }

    @Test func undeclaredNamesAndOtherTypesAreErrors() async {
        for (name, text) in [("volume", "no argument “volume”"), ("file", "file is a string, not a Double")] {
            let action = tweakAction("A", "B", name, arguments: [.init("file", .string)], registry: registry) {
                "\(try $0[name, as: Double.self])"
            }
            let error = await refusal(of: action, ["x"])
            #expect(error?.code == .internal && error?.message.contains(text) == true)
        }
    }

    @Test(arguments: [
        ([TweakParameter("a", .int), TweakParameter("a", .int)], "two arguments have the name a"),
        ([TweakParameter("a", .int, default: 1), TweakParameter("b", .int)], "b has no default"),
        ([TweakParameter("a", .int, in: 0...9, default: 10)], "10 is outside 0...9"),
        ([TweakParameter("a", choices: [])], "a has no choices"),
        ([TweakParameter("a/b", .int)], "a/b"),
        ([TweakParameter("a", .int, help: "\u{202E}")], "invisible or bidirectional"),
    ])
    func invalidDeclarationsAreRefused(_ parameters: [TweakParameter], _ text: String) throws {
        let path = try TweakPath("A", "B", "C")
        let error = refusal { _ = try ActionSignature(parameters, path) }
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }
}
