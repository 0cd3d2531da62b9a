// Tests of `tweakctl fleet`, which executes tweakctl-fleet.

import Foundation
import Testing
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct FleetProgramTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["bin", "path"] { try directory.makeFolder(name) }
        // A copy, because the real tweakctl-fleet is beside the executable that was built.
        try write("bin/tweakctl", by: "cat '\(TweakctlFixture.executable.path)'")
    }

    /// Writes an executable file by another process: a file that this one has open for writing may be inherited by a
    /// program that another test starts at the same moment, and could not be executed then.
    private func write(_ name: String, by command: String, input: String = "") throws {
        let path = directory.file(name)
        let output = try Tool.sh.run(["-c", "\(command) >'\(path)' && chmod 755 '\(path)' && echo done"], input: input)
        #expect(output == "done\n")
    }

    /// Installs a program that prints its folder and its arguments.
    private func install(in folder: String, _ body: String = "exit 7") throws {
        let script = "#!/bin/sh\necho \(folder)\nfor word; do printf '<%s>' \"$word\"; done\necho\n\(body)\n"
        try write("\(folder)/tweakctl-fleet", by: "cat", input: script)
    }

    /// The output and the exit code of tweakctl, as lines.
    private func run(_ arguments: String) throws -> [String] {
        let line = "PATH='\(directory.file("path"))'; '\(directory.file("bin/tweakctl"))' \(arguments) 2>&1; echo $?"
        return try Tool.sh.run(["-c", line], input: "").splitLines().dropLast()
    }

    @Test func theProgramBesideTweakctlGetsAllArguments() throws {
        try install(in: "bin")
        try install(in: "path")
        #expect(
            try run("fleet api set 'A/B/C d = 1' --json --help -- -s x")
                == ["bin", "<api><set><A/B/C d = 1><--json><--help><--><-s><x>", "7"])
    }

    @Test func theProgramOnThePathIsSecondChoice() throws {
        try install(in: "path", "exit 0")
        #expect(try run("fleet") == ["path", "", "0"])
    }

    @Test func aMissingProgramIsExitCode3() throws {
        let lines = try run("fleet api ls")
        #expect(lines.last == "3")
        #expect(lines.first?.hasPrefix("tweakctl: fleet: tweakctl-fleet is neither next to tweakctl nor") == true)
    }

    @Test(arguments: [
        ("--json fleet api ls", "fleet: put options after fleet"), ("-s /x fleet api", "leave -s and -H out"),
    ])
    func optionsBeforeTheVerbAreRefused(_ arguments: String, _ text: String) throws {
        try install(in: "bin")
        let lines = try run(arguments)
        #expect(lines.last == "2" && lines.first?.contains(text) == true, "\(lines)")
    }

    @Test func completionIsDelegated() throws {
        #expect(try run("__complete fleet api s") == ["0"])
        try install(in: "bin", "exit 0")
        #expect(try run("__complete fleet api s") == ["bin", "<__complete><api><s>", "0"])
        #expect(try run("__complete fle") == ["fleet", "0"])
    }
}
