// Parses and replays a transcript of the guide: commands of operators and their output.

import Foundation
import Synchronization
import Testing
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet
@testable import TweaksFleetOperator

/// Lines that begin with `NAME@HOST$ ` are commands; the lines after a command are its output:
///
/// - `tweakctl fleet …`: its output. With ` &` at its end it continues in the background, and its further output is
///   below later commands. At `Killed` it is killed as by `kill -9`.
/// - `ssh HOST systemctl kill -s KILL NAME`: `etcd-2` is a member, `quotes-7` a process, which is restarted.
/// - `sleep 60`: ends the lease of a killed driver. `echo $?`: the exit code of the last command that ended.
///
/// `--every 60s` is a second in the test, except in a rollout that errors abort before its next step, and the fleet may
/// have fewer processes. Clusters, builds, ages and times may differ; `…` matches any text.
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
                steps[steps.count - 1].lines.append(StoryFleet.scaled(line))
            }
        }
    }
}

/// One replay.
final class FleetReplay {
    private let fleet: StoryFleet
    /// The driver in the background, and its rollout.
    private var background: (command: RunningCommand, rollout: String)?
    private var code: ExitCode?

    init(_ fleet: StoryFleet) { self.fleet = fleet }

    func run(_ step: FleetTranscript.Step) async throws {
        let words = ShellWords.split(step.command)
        switch words.first {
        case "ssh": try await kill(words[1])
        case "sleep": try await fleet.expireDrivers()
        case "echo": #expect(step.lines == ["\(code?.rawValue ?? -1)"], "exit code")
        default: try await converse(step)
        }
    }

    private func kill(_ name: String) async throws {
        let number = try #require(Int(name.drop { $0 != "-" }.dropFirst()))
        if name.hasPrefix("etcd-") {
            fleet.cluster.server.kill(number - 1)
            for other in fleet.cluster.server.endpoints.indices where other != number - 1 {
                try await fleet.cluster.server.waitUntilLed(other)
            }
        } else {
            try await fleet.restart(number)
        }
    }

    private func converse(_ step: FleetTranscript.Step) async throws {
        let isBackground = step.command.hasSuffix(" &")
        let hasErrors = step.lines.contains { $0.contains(": aborted rollout ") }
        let line = step.command.replacingOccurrences(of: "tweakctl fleet ", with: "")
            .replacingOccurrences(of: "--every 60s", with: hasErrors ? "--every 3600s" : "--every 1s")
            .replacingOccurrences(of: " &", with: "")
        if [" get ", " status"].contains(where: line.contains) { try await fleet.settle() }
        let command = try RunningCommand(line, by: step.who, fleet)
        for wanted in step.lines {
            if wanted == "Killed" { return await command.kill() }
            // A driver in the background begins each line with its rollout.
            let driver = background.flatMap { wanted.hasPrefix("rollout \($0.rollout): ") ? $0.command : nil }
            try await (driver ?? command).expect(wanted, after: step.command)
            if hasErrors, wanted.contains(" reported") { fleet.mayFail.open() }
        }
        if isBackground {
            background = (command, command.rollout)
            return
        }
        code = await command.end()
        #expect(command.rest.isEmpty, "after \(step.command)")
    }

    /// Waits for the end of the driver in the background.
    func end() async { if let background { _ = await background.command.end() } }
}

/// A running command and its output.
private final class RunningCommand: Sendable {
    /// The rollout that it drives, if any.
    let rollout: String
    private let lines: AsyncStream<String>
    private let text = Mutex<[String]>([])
    private let task: Task<ExitCode, Never>
    private let last = Mutex("")

    init(_ line: String, by who: String, _ fleet: StoryFleet) throws {
        // A canceled task is a killed process: it cannot even release its claim.
        let etcd = InterposedEtcd(
            etcd: fleet.cluster.etcd,
            beforeCall: { () throws(EtcdError) in if Task.isCancelled { throw .unreachable("killed") } })
        rollout = String(line.split(separator: " ").last ?? "")
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        let client: Result<FleetClient, Failure> = Result { () throws(Failure) in
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

    /// Waits for the next line and compares it. Skips lines of incomplete reports, and lines that differ from the
    /// previous one only in counts. The first difference ends the replay: what follows differs because of it.
    func expect(_ wanted: String, after command: String) async throws {
        for await line in lines where !isSkipped(line) {
            last.withLock { $0 = Self.plain(line) }
            try #require(Self.matches(line, wanted), "\(command)\n--- got\n\(line)\n--- expected\n\(wanted)")
            return
        }
        throw Mismatch(description: "\(command)\n--- got its end\n--- expected\n\(wanted)")
    }

    private struct Mismatch: Error, CustomStringConvertible { let description: String }

    func end() async -> ExitCode {
        let code = await task.value
        for await line in lines where !isSkipped(line) { text.withLock { $0.append(line) } }
        return code
    }

    /// The lines after the expected ones.
    var rest: [String] { text.withLock { $0 } }

    /// Ends as by `kill -9`.
    func kill() async {
        task.cancel()
        _ = await task.value
    }

    private func isSkipped(_ line: String) -> Bool {
        if let match = line.firstMatch(of: /: ([0-9]+) of ([0-9]+) reported/), match.1 != match.2 { return true }
        return line.contains(" reported") && last.withLock { $0 } == Self.plain(line)
    }

    private static func matches(_ line: String, _ pattern: String) -> Bool {
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

    /// Removes the parts that differ between runs.
    private static func plain(_ line: String) -> String {
        let varying = [
            "cluster [0-9a-f]+": "cluster C", "build [0-9a-f]{16}": "build B",
            "etcd 3\\.[0-9.]+, [0-9]+ MiB, revision [0-9]+": "etcd 3", "(just now|[0-9]+ (s|min) ago)": "AGE",
            "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z": "TIME", "process [0-9]+ on [A-Za-z0-9.-]+": "process N on H",
            "> 5 on [0-9]+, worst [0-9.]+": "> 5 on N, worst W", "its lease of [0-9]+ s": "its lease of N s",
        ]
        return varying.reduce(line) { $0.replacingOccurrences(of: $1.key, with: $1.value, options: .regularExpression) }
    }
}
