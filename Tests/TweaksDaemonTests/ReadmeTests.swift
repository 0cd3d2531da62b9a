// Replays the sessions of the README with the program that it shows, so that they stay true.

import Foundation
import Testing
import TweaksTestSupport

@Suite(.blocking, .tags(.process), .enabled(if: BuiltProgram.exists("hello"), "build hello")) struct ReadmeTests {
    private static let file = "README.md"

    /// Except for the line that names the file or says what it does.
    @Test func itsFirstProgramIsTheExample() throws {
        let block = try #require(DocumentedBlock.all("swift", of: Self.file).first).text.splitLines()
        #expect(block.first == "// Sources/hello/main.swift")
        let example = try Document("Examples/hello/main.swift").text.splitLines()
        #expect(block.dropFirst() == example.dropFirst(2).dropLast())
    }

    @Test func itsFirstSessionIsTrue() throws {
        let blocks = DocumentedBlock.all("transcript", of: Self.file)
        try #require(blocks.count == 1)
        let program = try Hello()
        try program.start()
        try ShellTranscript(blocks[0].text).replay(with: program, in: program.root)
    }

    /// They are one session of a shell.
    @Test func itsThreeMinutesAreTrue() throws {
        let blocks = DocumentedBlock.all("daemon-transcript", of: Self.file)
        try #require(blocks.count == 2)
        let program = try Hello(["TWEAKS_CONFIG": "hello.conf"])
        for block in blocks { try ShellTranscript(block.text).replay(with: program, in: program.root) }
    }

    /// It is read from top to bottom, on a page of ordinary width.
    @Test func itIsShort() throws {
        let lines = try Document(Self.file).text.splitLines()
        #expect(lines.count <= 221)
        #expect(lines.filter { $0.count > 100 } == [])
    }
}

/// The program of the README, in a directory of the test.
private final class Hello: DocumentedProgram {
    let name = "hello"
    let log = LogLines()
    let root: TemporaryDirectory
    private let variables: [String: String]
    private var program: RunningProgram?
    private(set) var port: Int?

    init(_ variables: [String: String] = [:]) throws {
        root = try TemporaryDirectory()
        self.variables = variables
    }

    func start() throws {
        let files = [
            "TWEAKS_PORT": "0", "TWEAKS_SOCKET": root.file("hello.sock"), "TWEAKS_STATE_DIR": root.file("state"),
            "HOME": root.path,
        ]
        let logged = log.all.count
        let program = try RunningProgram(
            BuiltProgram.path("hello"),
            environment: BuiltProgram.environment.merging(files) { $1 }.merging(variables) { $1 },
            directory: root.path, output: .dropped, errors: .logged, log: log)
        let listening = try program.waitForLine(from: logged, containing: "tweaks at 127.0.0.1:")
        port = log.all[listening].firstMatch(of: #/127\.0\.0\.1:(\d+)/#).flatMap { Int($0.output.1) }
        self.program = program
    }

    func stop() throws {
        program?.signal(SIGTERM)
        #expect(try program?.waitForEnd() == 0)
    }

    func kill() throws { try program?.kill() }

    func reload() throws { program?.signal(SIGHUP) }
}
