// What operators of a fleet type and see, written down in the guide, and its replay.

import Foundation
import Synchronization
import Testing
import TweaksTerminal
import TweaksTestSupport

@testable import TweaksFleet
@testable import tweakctl_fleet

/// Lines that begin with `NAME@HOST$ ` are typed by somebody. What follows is what comes of it:
///
/// - `tweakctl fleet …`: what it prints. With ` &` at its end it runs on, and its further lines stand below what is typed
///   next. Where `Killed` stands it is killed as by `kill -9`.
/// - `ssh HOST systemctl kill -s KILL NAME`: `etcd-2` is a member, `quotes-7` a process, which is started again.
/// - `sleep 60`: until the lease of a driver is over. `echo $?`: the exit code of what ended last.
///
/// `--every 60s` are seconds of the test. Clusters, builds, ages and times differ; `…` stands for any text.
struct FleetTranscript {
    struct Step {
        var who: String
        var command: String
        var lines: [String] = []
    }

    private(set) var steps: [Step] = []

    init(_ text: String) {
        for line in text.split(separator: "\n").map(String.init) {
            let parts = line.split(separator: "$ ", maxSplits: 1).map(String.init)
            if parts.count == 2, parts[0].contains("@"), !parts[0].contains(" ") {
                steps.append(Step(who: parts[0], command: parts[1]))
            } else if !steps.isEmpty {
                steps[steps.count - 1].lines.append(line)
            }
        }
    }
}

/// One replay.
final class FleetReplay {
    private let fleet: StoryFleet
    /// A driver that runs on, and its rollout.
    private var background: (command: RunningCommand, rollout: String)?
    private var code: ExitCode?

    init(_ fleet: StoryFleet) { self.fleet = fleet }

    func run(_ step: FleetTranscript.Step) async throws {
        let words = ShellWords.split(step.command)
        switch words.first {
        case "ssh": try await kill(words[1])
        case "sleep": try await fleet.waitForDriver()
        case "echo": #expect(step.lines == ["\(code?.rawValue ?? -1)"], "exit code")
        default: try await converse(step)
        }
    }

    private func kill(_ name: String) async throws {
        let number = try #require(Int(name.drop { $0 != "-" }.dropFirst()))
        if name.hasPrefix("etcd-") {
            fleet.weather.server.kill(number - 1)
        } else {
            try await fleet.restart(number)
        }
    }

    private func converse(_ step: FleetTranscript.Step) async throws {
        let isBackground = step.command.hasSuffix(" &")
        let line = step.command.replacingOccurrences(of: "tweakctl fleet ", with: "")
            .replacingOccurrences(of: "--every 60s", with: "--every 1s").replacingOccurrences(of: " &", with: "")
        if [" get ", " status"].contains(where: line.contains) { try await fleet.settle() }
        let command = try RunningCommand(line, by: step.who, fleet)
        for wanted in step.lines {
            if wanted == "Killed" { return await command.kill() }
            // Of two that speak, the driver names its rollout in front of each line.
            let isDriver = background.map { wanted.hasPrefix("rollout \($0.rollout): ") } ?? false
            let speaker = isDriver ? background?.command ?? command : command
            await speaker.expect(wanted, after: step.command)
        }
        if isBackground {
            background = (command, command.rollout)
            return
        }
        code = await command.end()
        #expect(command.rest.isEmpty, "after \(step.command)")
    }

    /// The driver that ran on has ended.
    func end() async { if let background { _ = await background.command.end() } }
}

/// A command that runs, and its lines.
private final class RunningCommand: Sendable {
    /// What it drives, where it does.
    let rollout: String
    private let etcd: FaultyEtcd
    private let lines: AsyncStream<String>
    private let text = Mutex<[String]>([])
    private let task: Task<ExitCode, Never>
    private let last = Mutex("")

    init(_ line: String, by who: String, _ fleet: StoryFleet) throws {
        etcd = FaultyEtcd(fleet.weather.etcd)
        rollout = String(line.split(separator: " ").last ?? "")
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        let client: Result<FleetClient, Failure> = Result { [etcd] () throws(Failure) in
            try fleet.command(line, by: who, on: etcd) { continuation.yield($0) }
        }
        task = Task {
            defer { continuation.finish() }
            do throws(Failure) {
                return try await client.get().run()
            } catch {
                continuation.yield("tweakctl-fleet: \(error.description)")
                return error.code
            }
        }
    }

    /// Waits for the next line, which has to be this one. That some have reported and some have not is passed over, and
    /// what differs from the line before in its figures alone.
    func expect(_ wanted: String, after command: String) async {
        for await line in lines where !isPassing(line) {
            last.withLock { $0 = Self.plain(line) }
            #expect(Self.fits(line, wanted), "\(command)\n--- got\n\(line)\n--- expected\n\(wanted)")
            return
        }
        Issue.record("\(command)\n--- got its end\n--- expected\n\(wanted)")
    }

    func end() async -> ExitCode {
        let code = await task.value
        for await line in lines where !isPassing(line) { text.withLock { $0.append(line) } }
        return code
    }

    /// Lines that were not expected.
    var rest: [String] { text.withLock { $0 } }

    /// As by `kill -9`: not even its claim is given up.
    func kill() async {
        etcd.set(.unreachable)
        task.cancel()
        _ = await task.value
    }

    // MARK: Texts

    private func isPassing(_ line: String) -> Bool {
        if let match = line.firstMatch(of: /: ([0-9]+) of ([0-9]+) reported/), match.1 != match.2 { return true }
        return line.contains(" reported") && last.withLock { $0 } == Self.plain(line)
    }

    private static func fits(_ line: String, _ pattern: String) -> Bool {
        let (line, parts) = (plain(line), plain(pattern).components(separatedBy: "…"))
        guard let first = parts.first, let last = parts.last, line.hasPrefix(first) else { return false }
        if parts.count == 1 { return line == first }
        var rest = line.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }

    /// Without what differs from one time to another.
    private static func plain(_ line: String) -> String {
        let varying = [
            "cluster [0-9a-f]+": "cluster C", "build [0-9a-f]{16}": "build B",
            "etcd 3\\.[0-9.]+, [0-9]+ MiB, revision [0-9]+": "etcd 3", "(just now|[0-9]+ (s|min) ago)": "AGE",
            "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z": "TIME", "process [0-9]+ on [A-Za-z0-9.-]+": "process N on H",
            "> 5 on [0-9]+, worst [0-9.]+": "> 5 on N, worst W",
        ]
        return varying.reduce(line) { $0.replacingOccurrences(of: $1.key, with: $1.value, options: .regularExpression) }
    }
}
