// Declared arguments: read and judged before the body runs, found by name, filled in where they have a default.

import Testing

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
            let volume: Double = try arguments["volume"]
            let mode = try arguments["mode", as: Mode.self]
            let fade = try arguments["fade", as: Duration.self]
            let times = try arguments["times", as: Int.self]
            let isLoud: Bool = try arguments["loud"]
            let tint: TweakColor = try arguments["tint"]
            let bus: String = try arguments["bus"]
            runs.note(Array(arguments))
            let file: String = try arguments["file"]
            return "\(file) \(volume) \(mode) \(times) \(fade) \(TweakValue.color(tint).text) \(isLoud) \(bus)"
        }
    }

    private func error(_ action: TweakAction, _ arguments: [String]) async -> TweakError? {
        do {
            _ = try await action.run(arguments)
            return nil
        } catch { return error }
    }

    @Test func valuesAndDefaults() async throws {
        let action = play()
        #expect(try await action.run(["a.wav"]) == "a.wav 0.5 once 1 0.25 seconds #FF0000FF false main")
        #expect(
            try await action.run(["b", "1", "loop", "0x10", "1.5s", "red", "yes", "side"])
                == "b 1.0 loop 16 1.5 seconds #FF0000FF true side")
        // Positions have what was typed, and the texts of defaults.
        #expect(runs.all.first == ["a.wav", "0.5", "once", "1", "250ms", "#FF0000FF", "false", "main"])
    }

    private static let usage = "use: run Player/Audio/Play FILE [VOLUME] [MODE] [TIMES] [FADE] [TINT] [LOUD] [BUS]"

    @Test(arguments: [
        ([String](), TweakError.Code.usage, "file is missing"),
        (Array(repeating: "1", count: 9), .usage, "takes at most 8, and here are 9"),
        (["a", "7"], .outOfRange, "volume: 7 is outside 0...1"),
        (["a", "loud"], .badValue, "volume: “loud” is no number; write a finite number such as 72 or 1.5e3, in 0...1"),
        (["a", "1", "Loop"], .notAChoice, "mode: “Loop” is none of once, loop; did you mean loop?"),
        (["a", "1", "loop", "0"], .outOfRange, "times: 0 is outside 1..."),
        (["a", "1", "loop", "1", "1h"], .outOfRange, "fade: 1h is outside 0s...5s"),
    ])
    func whatIsWrongIsSaid(_ arguments: [String], _ code: TweakError.Code, _ text: String) async {
        let error = await error(play(), arguments)
        #expect(error?.code == code && error?.path?.joined == "Player/Audio/Play")
        #expect(error?.message == "Player/Audio/Play: \(text); \(Self.usage)")
        #expect(runs.all.isEmpty)
    }

    @Test func oneThatTakesNone() async throws {
        let action = tweakAction("A", "B", "C", arguments: [], registry: registry) { "\($0.count)" }
        #expect(try await action.run() == "0")
        #expect(
            await error(action, ["x"])
                == TweakError(
                    .usage, "A/B/C: takes no arguments; use: run A/B/C", path: action.path))
    }

    @Test func oneThatDeclaresNoneTakesAny() async throws {
        let action = tweakAction("A", "B", "C", registry: registry) { $0.joined(separator: "+") }
        #expect(try await action.run(["a", "b"]) == "a+b")
        #expect(action.node.signature == nil)
    }

    @Test func aNameThatIsNotDeclared() async {
        let action = tweakAction("A", "B", "C", arguments: [.init("file", .string)], registry: registry) { arguments in
            let volume: Double = try arguments["volume"]
            return "\(volume)"
        }
        #expect(await error(action, ["x"])?.message.contains("no argument “volume”") == true)
        let other = tweakAction("A", "B", "D", arguments: [.init("file", .string)], registry: registry) { arguments in
            let number: Double = try arguments["file"]
            return "\(number)"
        }
        #expect(await error(other, ["x"])?.code == .internal)
    }

    @Test(arguments: [
        ([TweakParameter("a", .int), TweakParameter("a", .int)], "two arguments are called a"),
        ([TweakParameter("a", .int, default: 1), TweakParameter("b", .int)], "b has no default"),
        ([TweakParameter("a", .int, in: 0...9, default: 10)], "10 is outside 0...9"),
        ([TweakParameter("a", choices: [])], "a has no choices"),
        ([TweakParameter("a/b", .int)], "a/b"),
        ([TweakParameter("a", .int, help: "\u{202E}")], "control or bidirectional"),
    ])
    func whatCannotBeDeclared(_ parameters: [TweakParameter], _ text: String) throws {
        let path = try TweakPath("A", "B", "C")
        let error = refusal { _ = try ActionSignature(parameters, path) }
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }
}
