// Tests that exactly one of two racing processes gets a socket.

import Foundation
import Testing
import TweaksTestSupport

/// A process of `TweaksCrashProbe race`.
private final class Racer {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var rest: [String] = []
    private var unfinished = ""
    private let ended = DispatchSemaphore(value: 0)

    init(_ environment: [String: String]) throws {
        process.executableURL = Child.url
        process.arguments = ["race"]
        process.environment = environment.merging(Child.inheritedEnvironment) { $1 }
        (process.standardInput, process.standardOutput) = (input, output)
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
        try #require(try reply() == "ready")
    }

    deinit { if process.isRunning { kill() } }

    var processID: Int32 { process.processIdentifier }

    func send(_ order: String) { input.fileHandleForWriting.writeUnlessBroken(order + "\n") }

    /// The next printed line.
    func reply() throws -> String {
        while rest.isEmpty {
            let bytes = try output.fileHandleForReading.readSome()
            if bytes.isEmpty { throw ClientError.ended(unfinished) }
            rest = (unfinished + String(decoding: bytes, as: UTF8.self)).splitLines()
            unfinished = rest.removeLast()
        }
        return rest.removeFirst()
    }

    func kill() {
        systemKill(processID)
        ended.wait()
    }
}

/// kill(2), which the method hides.
private func systemKill(_ process: Int32) { _ = kill(process, SIGKILL) }

@Suite(.blocking, .enabled(if: Child.exists, "TweaksCrashProbe was not built"))
struct SocketRaceTests {
    private let home: TemporaryDirectory
    private var path: String { home.file("probe.sock") }

    init() throws { home = try TemporaryDirectory() }

    private func racer() throws -> Racer { try Racer(["TWEAKS_SOCKET": path, "HOME": home.path]) }

    private func expectNothingLeft() throws {
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path) == [])
    }

    /// Also after the owner was killed and left its socket behind.
    @Test func oneOfTwoProcessesGetsTheSocket() throws {
        var racers = [try racer(), try racer()]
        let rounds = quantity(1_000, few: 50)
        for round in 1...rounds {
            for racer in racers { racer.send("go") }
            let answers = try racers.map { try $0.reply() }
            let owner = try #require(answers.firstIndex(of: "own \(path)"), "\(answers)")
            #expect(answers[1 - owner] == "taken")
            let hello = try TestClient(unix: path).ask("hello 1")
            #expect(hello.contains("  pid: \(racers[owner].processID)"))
            if round % (rounds / 10) == 0 {
                racers[owner].kill()
                racers[owner] = try racer()
            } else {
                racers[owner].send("stop")
                #expect(try racers[owner].reply() == "stopped")
            }
        }
        for racer in racers { racer.send("go") }
        for racer in racers { _ = try racer.reply() }
        for racer in racers { racer.send("stop") }
        for racer in racers { _ = try racer.reply() }
        try expectNothingLeft()
    }

    /// Both start and stop as fast as they can.
    @Test func theSocketAnswersForItsOwnerAlone() throws {
        let racers = [try racer(), try racer()]
        for racer in racers { racer.send("many \(quantity(1_000))") }
        let answers = try racers.map { try $0.reply() }
        let owned = answers.map { Int($0.dropFirst("owned ".count)) ?? 0 }
        #expect(answers.allSatisfy { $0.hasPrefix("owned ") }, "\(answers)")
        #expect(owned.reduce(0, +) > 0)
        try expectNothingLeft()
        racers[0].send("go")
        #expect(try racers[0].reply() == "own \(path)")
    }

    @Test func withoutAConfiguredPathTheSecondProcessGetsAnotherSocket() throws {
        let environment = ["XDG_RUNTIME_DIR": home.path, "HOME": home.path]
        let racers = [try Racer(environment), try Racer(environment)]
        for _ in 1...quantity(100) {
            for racer in racers { racer.send("go") }
            let answers = try racers.map { try $0.reply() }
            let first = try #require(answers.firstIndex(of: "own \(home.path)/tweaks/probe.sock"), "\(answers)")
            let second = racers[1 - first].processID
            #expect(answers[1 - first] == "own \(home.path)/tweaks/probe-\(second).sock")
            for racer in racers { racer.send("stop") }
            for racer in racers { #expect(try racer.reply() == "stopped") }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.file("tweaks")) == [])
    }
}
