// `tweakctl fleet`: it becomes tweakctl-fleet, beside it or on the path.

import Foundation
import Testing
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists)) struct FleetProgramTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["bin", "path"] {
            try FileManager.default.createDirectory(
                atPath: directory.file(name), withIntermediateDirectories: true)
        }
        // A copy, so that what was built beside the tests is not beside it.
        try FileManager.default.copyItem(
            atPath: Surroundings.executable.path, toPath: directory.file("bin/tweakctl"))
    }

    /// A program that says where it stands and what it was given.
    private func install(in folder: String, _ body: String = "exit 7") throws {
        let path = directory.file("\(folder)/tweakctl-fleet")
        let script = "#!/bin/sh\necho \(folder)\nfor word; do printf '<%s>' \"$word\"; done\necho\n\(body)\n"
        try script.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// Its output and its exit code, as lines.
    private func run(_ arguments: String) throws -> [String] {
        let line = "PATH='\(directory.file("path"))'; '\(directory.file("bin/tweakctl"))' \(arguments) 2>&1; echo $?"
        return try Tool.sh.run(["-c", line], input: "").splitLines().dropLast()
    }

    @Test func `The program beside tweakctl gets the arguments as they are, and its exit code is the answer`() throws {
        try install(in: "bin")
        try install(in: "path")
        #expect(
            try run("fleet api set 'A/B/C d = 1' --json --help -- -s x")
                == ["bin", "<api><set><A/B/C d = 1><--json><--help><--><-s><x>", "7"])
    }

    @Test func `Otherwise the one on the path is taken`() throws {
        try install(in: "path", "exit 0")
        #expect(try run("fleet") == ["path", "", "0"])
    }

    @Test func `A missing program is said with the remedy, and is code 3`() throws {
        let lines = try run("fleet api ls")
        #expect(lines.last == "3")
        #expect(lines.first?.hasPrefix("tweakctl: fleet: tweakctl-fleet is neither beside tweakctl nor on the") == true)
    }

    @Test(arguments: [
        ("--json fleet api ls", "fleet: its options stand behind it"), ("-s /x fleet api", "leave -s and -H out"),
    ])
    func `Options before the verb are refused`(_ arguments: String, _ text: String) throws {
        try install(in: "bin")
        let lines = try run(arguments)
        #expect(lines.last == "2" && lines.first?.contains(text) == true, "\(lines)")
    }

    @Test func `What can be typed behind it the program itself says`() throws {
        #expect(try run("__complete fleet api s") == ["0"])
        try install(in: "bin", "exit 0")
        #expect(try run("__complete fleet api s") == ["bin", "<__complete><api><s>", "0"])
        #expect(try run("__complete fle") == ["fleet", "0"])
    }
}
