// Two processes that want the same socket, again and again: one has it, never both, and never neither.

import Foundation
import Testing
import TweaksTestSupport

/// A process of `TweaksCrashProbe race`.
private final class Racer {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var rest: [String] = []
    private var unfinished = ""
    private let isRunning: DispatchSemaphore

    init(_ environment: [String: String]) throws {
        process.executableURL = Child.url
        process.arguments = ["race"]
        process.environment = environment.merging(Child.kept) { $1 }
        (process.standardInput, process.standardOutput) = (input, output)
        let ended = DispatchSemaphore(value: 0)
        isRunning = ended
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        try #require(try answer() == "ready")
    }

    deinit { if process.isRunning { kill() } }

    var processID: Int32 { process.processIdentifier }

    func tell(_ order: String) { input.fileHandleForWriting.writeUnlessBroken(order + "\n") }

    /// The next line it says.
    func answer() throws -> String {
        while rest.isEmpty {
            let bytes = try output.fileHandleForReading.readSome()
            if bytes.isEmpty { throw ClientError.ended(unfinished) }
            rest = (unfinished + String(decoding: bytes, as: UTF8.self)).splitLines()
            unfinished = rest.removeLast()
        }
        return rest.removeFirst()
    }

    /// Ends it as power failure would.
    func kill() {
        systemKill(process.processIdentifier)
        isRunning.wait()
    }
}

/// kill(2), under a name that no method takes.
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

    /// Told at once, one has it and the other says so. The owner may be killed: what it leaves is in nobody's way.
    @Test func oneOfTwoHasIt() throws {
        var racers = [try racer(), try racer()]
        let rounds = quantity(1_000, few: 50)
        for round in 1...rounds {
            for racer in racers { racer.tell("go") }
            let answers = try racers.map { try $0.answer() }
            let owner = try #require(answers.firstIndex(of: "own \(path)"), "\(answers)")
            #expect(answers[1 - owner] == "taken")
            let hello = try TestClient(unix: path).ask("hello 1")
            #expect(hello.contains("  pid: \(racers[owner].processID)"))
            if round % (rounds / 10) == 0 {
                racers[owner].kill()
                racers[owner] = try racer()
            } else {
                racers[owner].tell("stop")
                #expect(try racers[owner].answer() == "stopped")
            }
        }
        for racer in racers { racer.tell("go") }
        for racer in racers { _ = try racer.answer() }
        for racer in racers { racer.tell("stop") }
        for racer in racers { _ = try racer.answer() }
        try expectNothingLeft()
    }

    /// Both come and go as fast as they can: whoever has it is the one that answers there.
    @Test func theOwnerIsNeverRobbed() throws {
        let racers = [try racer(), try racer()]
        for racer in racers { racer.tell("many \(quantity(1_000))") }
        let answers = try racers.map { try $0.answer() }
        let owned = answers.map { Int($0.dropFirst("owned ".count)) ?? 0 }
        #expect(answers.allSatisfy { $0.hasPrefix("owned ") }, "\(answers)")
        #expect(owned.reduce(0, +) > 0)
        try expectNothingLeft()
        // And none of it is in the way of the next.
        racers[0].tell("go")
        #expect(try racers[0].answer() == "own \(path)")
    }

    /// Where nobody has named a path, the second one serves beside the first.
    @Test func defaultNamesMakeRoom() throws {
        let environment = ["XDG_RUNTIME_DIR": home.path, "HOME": home.path]
        let racers = [try Racer(environment), try Racer(environment)]
        for _ in 1...quantity(100) {
            for racer in racers { racer.tell("go") }
            let answers = try racers.map { try $0.answer() }
            let first = try #require(answers.firstIndex(of: "own \(home.path)/tweaks/probe.sock"), "\(answers)")
            let second = racers[1 - first].processID
            #expect(answers[1 - first] == "own \(home.path)/tweaks/probe-\(second).sock")
            for racer in racers { racer.tell("stop") }
            for racer in racers { #expect(try racer.answer() == "stopped") }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.file("tweaks")) == [])
    }
}
