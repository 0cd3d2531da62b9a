// Tests that exactly one of two racing processes gets a socket.

import Foundation
import Testing
import TweaksTestSupport

@Suite(.blocking, .enabled(if: Child.exists, "TweaksCrashProbe was not built"))
struct SocketRaceTests {
    private let home: TemporaryDirectory
    private var path: String { home.file("probe.sock") }

    init() throws { home = try TemporaryDirectory() }

    /// Starts `TweaksCrashProbe race`.
    private func racer(_ environment: [String: String]? = nil) throws -> RunningProgram {
        let variables = environment ?? ["TWEAKS_SOCKET": path, "HOME": home.path]
        let racer = try RunningProgram(
            BuiltProgram.path("TweaksCrashProbe"), ["race"],
            environment: BuiltProgram.environment.merging(variables) { $1 })
        try #require(try racer.line() == "ready")
        return racer
    }

    private func expectNothingLeft() throws {
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path) == [])
    }

    /// Also after the owner was killed and left its socket behind.
    @Test func oneOfTwoProcessesGetsTheSocket() throws {
        var racers = [try racer(), try racer()]
        let rounds = quantity(1_000, few: 50)
        for round in 1...rounds {
            for racer in racers { racer.type("go\n") }
            let answers = try racers.map { try $0.line() }
            let owner = try #require(answers.firstIndex(of: "own \(path)"), "\(answers)")
            #expect(answers[1 - owner] == "taken")
            let hello = try TestClient(unix: path).ask("hello 1")
            #expect(hello.contains("  pid: \(racers[owner].processID)"))
            if round % (rounds / 10) == 0 {
                try racers[owner].kill()
                racers[owner] = try racer()
            } else {
                racers[owner].type("stop\n")
                #expect(try racers[owner].line() == "stopped")
            }
        }
        for racer in racers { racer.type("go\n") }
        for racer in racers { _ = try racer.line() }
        for racer in racers { racer.type("stop\n") }
        for racer in racers { _ = try racer.line() }
        try expectNothingLeft()
    }

    /// Both start and stop as fast as they can.
    @Test func theSocketAnswersForItsOwnerAlone() throws {
        let racers = [try racer(), try racer()]
        for racer in racers { racer.type("many \(quantity(1_000))\n") }
        let answers = try racers.map { try $0.line() }
        let owned = answers.map { Int($0.dropFirst("owned ".count)) ?? 0 }
        #expect(answers.allSatisfy { $0.hasPrefix("owned ") }, "\(answers)")
        #expect(owned.reduce(0, +) > 0)
        try expectNothingLeft()
        racers[0].type("go\n")
        #expect(try racers[0].line() == "own \(path)")
    }

    @Test func withoutAConfiguredPathTheSecondProcessGetsAnotherSocket() throws {
        let environment = ["XDG_RUNTIME_DIR": home.path, "HOME": home.path]
        let racers = [try racer(environment), try racer(environment)]
        for _ in 1...quantity(100) {
            for racer in racers { racer.type("go\n") }
            let answers = try racers.map { try $0.line() }
            let first = try #require(answers.firstIndex(of: "own \(home.path)/tweaks/probe.sock"), "\(answers)")
            let second = racers[1 - first].processID
            #expect(answers[1 - first] == "own \(home.path)/tweaks/probe-\(second).sock")
            for racer in racers { racer.type("stop\n") }
            for racer in racers { #expect(try racer.line() == "stopped") }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.file("tweaks")) == [])
    }
}
