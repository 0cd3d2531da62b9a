// Replays the shell sessions of documents with real files and a real program, and compares the output.

import Foundation
package import Testing

/// The program that a document starts, stops and reloads.
package protocol DocumentedProgram: AnyObject {
    /// Its name in its log.
    var name: String { get }
    var log: LogLines { get }
    /// That of TCP, if documents connect to it.
    var port: Int? { get }
    func start() throws
    func stop() throws
    /// Ends it like `SIGKILL`.
    func kill() throws
    /// Reloads its config file like `SIGHUP`.
    func reload() throws
}

extension DocumentedProgram {
    package var port: Int? { nil }
}

/// A shell session. Lines that begin with `$ ` are commands; the lines that follow are the expected output:
///
/// - `$ nc -U PATH`, or `$ nc HOST PORT`: a conversation as in a ``Transcript``; it ends before the next `$ `;
/// - `$ systemctl start NAME`, also `stop`, `restart`, `reload` and `kill -s KILL`: calls the program's method;
/// - `$ swift run NAME &` starts it, also with variables before it; `$ pkill -KILL NAME` kills it;
/// - anything else runs in `sh` in the directory of the test; after `<<EOF` the lines down to `EOF` are its input.
///
/// Lines that begin with the program's name and a colon are log lines. The replay waits for them in order, and skips
/// lines in between. `/etc`, `/run` and `/var` are directories of the test. Times are not compared, and the current
/// user is shown as uid 1000; `…` matches any text.
package struct ShellTranscript {
    private struct Step {
        var command: String
        var lines: [String] = []
    }

    private var steps: [Step] = []

    /// Parses a session.
    package init(_ text: String) {
        var isInput = false
        for line in text.splitLines() {
            if isInput {
                steps[steps.count - 1].command += "\n" + line
                isInput = line != "EOF"
            } else if line.hasPrefix("$ ") {
                isInput = line.contains("<<EOF")
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if !steps.isEmpty, !line.isEmpty {
                steps[steps.count - 1].lines.append(line)
            }
        }
    }

    /// Whether it has no commands.
    package var isEmpty: Bool { steps.isEmpty }

    /// Runs all commands and compares every line of output.
    package func replay(
        with program: any DocumentedProgram, in root: TemporaryDirectory, at location: SourceLocation = #_sourceLocation
    ) throws {
        let replay = ShellReplay(program: program, root: root.path, location: location)
        for step in steps { try replay.run(step.command, step.lines) }
    }
}

/// A replay in progress.
private final class ShellReplay {
    private let program: any DocumentedProgram
    private let root: String
    private let location: SourceLocation
    private var logged = 0

    init(program: any DocumentedProgram, root: String, location: SourceLocation) {
        self.program = program
        self.root = root
        self.location = location
    }

    func run(_ command: String, _ lines: [String]) throws {
        let mark = program.name + ": "
        let output = lines.filter { !$0.hasPrefix(mark) }
        let words = command.split(separator: " ").drop { $0.contains("=") }
        switch words.first {
        case "nc": try converse(client(words), output)
        case "swift": try program.start()
        case "pkill": try program.kill()
        case "systemctl":
            #expect(output.isEmpty, "\(command) has no output", sourceLocation: location)
            try control(words.dropFirst().dropLast().joined(separator: " "))
        default:
            let text = try Tool.sh.run(["-c", "cd \(root); \(placed(command))"], input: "")
            compare(text.splitLines().filter { !$0.isEmpty }, output, command)
        }
        for line in lines where line.hasPrefix(mark) { waitFor(line) }
    }

    private func control(_ verb: String) throws {
        switch verb {
        case "start": try program.start()
        case "stop": try program.stop()
        case "restart":
            try program.stop()
            try program.start()
        case "reload": try program.reload()
        case "kill -s KILL": try program.kill()
        default: Issue.record("unknown: systemctl \(verb)", sourceLocation: location)
        }
    }

    private func client(_ words: some BidirectionalCollection<Substring>) throws -> TestClient {
        if words.contains("-U") { return try TestClient(unix: placed(String(words.last ?? ""))) }
        return try TestClient(port: #require(program.port))
    }

    private func converse(_ client: TestClient, _ lines: [String]) throws {
        for step in Transcript(lines.joined(separator: "\n")).steps {
            try client.send(step.typed + "\n")
            var answers: [String] = []
            // When a line is missing, the received lines are compared, which is more useful than a timeout.
            while answers.count < step.answers.count, let line = try? client.line() { answers.append(line) }
            compare(answers, step.answers, step.typed)
        }
        client.endInput()
        let rest = try client.rest()
        #expect(rest.isEmpty, "after the end: \(rest)", sourceLocation: location)
    }

    private func waitFor(_ line: String) {
        let found = program.log.firstIndex(from: logged) { fits($0, line) }
        let rest = program.log.all[logged...].map(shown).joined(separator: "\n  ")
        #expect(found != nil, "not logged: \(line)\n  \(rest)", sourceLocation: location)
        if let found { logged = found + 1 }
    }

    private func compare(_ lines: [String], _ expected: [String], _ subject: String) {
        let isSame = lines.count == expected.count && zip(lines, expected).allSatisfy { fits($0, $1) }
        let (got, wanted) = (lines.map(shown).joined(separator: "\n"), expected.joined(separator: "\n"))
        #expect(isSame, "\(subject)\n--- got\n\(got)\n--- expected\n\(wanted)", sourceLocation: location)
    }

    // MARK: Texts

    private func fits(_ line: String, _ pattern: String) -> Bool {
        Transcript.fits(Self.withoutTimes(shown(line)), Self.withoutTimes(pattern))
    }

    /// Replaces the directories that documents name by those of the test.
    private func placed(_ text: String) -> String {
        ["/etc/", "/run/", "/var/"].reduce(text) { text, place in
            text.replacingOccurrences(of: " " + place, with: " \(root)\(place)")
                .replacingOccurrences(of: "^" + place, with: root + place, options: .regularExpression)
        }
    }

    /// Replaces the directories and ids of the test by those that documents show.
    private func shown(_ line: String) -> String {
        line.replacingOccurrences(of: root, with: "")
            .replacingOccurrences(of: "\\buid \(getuid())\\b", with: "uid 1000", options: .regularExpression)
            .replacingOccurrences(of: "\\bpid \(getpid())\\b", with: "pid 4711", options: .regularExpression)
    }

    /// A line without its times, and without the ports of clients.
    private static func withoutTimes(_ line: String) -> String {
        [
            "[0-9]{4}-?[0-9]{2}-?[0-9]{2}T[0-9:.]+Z": "TIME", ", [0-9hms. ]+ left": ", TIME left",
            "127.0.0.1:[0-9]+": "PORT",
        ]
        .reduce(line) { $0.replacingOccurrences(of: $1.key, with: $1.value, options: .regularExpression) }
    }
}
