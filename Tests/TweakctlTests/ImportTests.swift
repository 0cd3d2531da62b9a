// Tests of `tweakctl import`: all assignments of a file or none, after a preview.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct ImportTests {
    private let fixture: TweakctlFixture
    private let tweaks = ExampleTweaks()

    init() throws {
        fixture = try TweakctlFixture()
        try fixture.server("bounce", registry: tweaks.registry)
    }

    private static let text = """
        # look
        Content/Text/Size = 72

        "Content/Text/Font Name" = "Gill Sans"
        Content/Text/Alignment = left
        ok rev 3

        """

    private func file(_ text: String = text) throws -> String {
        let path = fixture.directory.file("look.conf")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test(arguments: [["bounce"], []]) func aFileIsOneCommit(_ name: [String]) throws {
        let result = try fixture.run(name + ["import", file(), "--yes"])
        #expect(result.code == 0 && result.errors == "", "\(result)")
        #expect(result.output.splitLines().dropLast().map { $0.prefix { $0 != "=" } }.count == 3)
        #expect(tweaks.registry.revision == 1 && tweaks.size.value == 72)
        #expect(tweaks.registry["Content/Text/Font Name"]?.value == .string("Gill Sans"))
    }

    @Test func standardInputIsAFileNamedDash() throws {
        let result = try fixture.run("bounce", "import", "-", "--yes", input: Self.text)
        #expect(result.code == 0 && tweaks.size.value == 72 && tweaks.registry.revision == 1, "\(result)")
    }

    @Test func anExportIsAnImport() throws {
        try tweaks.size.set(72)
        let export = try fixture.run("bounce", "export").output
        tweaks.size.reset()
        #expect(try fixture.run("bounce", "import", "-", "--yes", input: export).code == 0)
        #expect(tweaks.size.value == 72)
    }

    @Test(arguments: [
        ("get *", "2: an import holds only assignments: PATH = VALUE"), ("reset *", "2: an import holds only"),
        ("set Content/Text/Fade 1s for 10m", "2: an import holds only"), ("Content/Text/Size += 1", "2: an import"),
        ("quit", "2: an import holds only"), ("Content/Text/Size", "2: "),
        ("No/Such/Tweak = 5", "2: unknown-tweak: "), ("Content/Text/Size = 500", "2: out-of-range: "),
        ("Content/Text/Alignment = toggle", "2: not-a-choice: "), ("Player/Status/Frames = 5", "2: read-only: "),
    ])
    func oneWrongLineChangesNothing(_ line: String, _ problem: String) throws {
        let path = try file("Content/Text/Size = 72\n\(line)\nContent/Text/Fade = 1s\n")
        for option in ["--yes", "--dry-run"] {
            let result = try fixture.run("bounce", "import", path, option)
            #expect(result.code == 1 && result.output == "", "\(result)")
            #expect(result.errors.contains("tweakctl: \(path):\(problem)"), "\(result)")
            #expect(result.errors.hasSuffix("tweakctl: 1 line is wrong; nothing has changed\n"))
        }
        #expect(tweaks.registry.revision == 0)
    }

    @Test func everyWrongLineIsListedUpToTwenty() throws {
        let path = try file(String(repeating: "Content/Text/Size = 500\n", count: 30))
        for option in ["--yes", "--dry-run"] {
            let lines = try fixture.run("bounce", "import", path, option).errors.splitLines().dropLast()
            #expect(lines.count == 21 && lines.last == "tweakctl: 30 lines are wrong; nothing has changed")
        }
        #expect(tweaks.registry.revision == 0)
    }

    @Test(arguments: [("", "there are no lines PATH = VALUE in it"), ("# only\n\n", "there are no lines")])
    func anEmptyFileIsRefused(_ text: String, _ problem: String) throws {
        #expect(try fixture.run("bounce", "import", file(text), "--yes").hasError(problem, code: 1))
    }

    @Test func anUnreadableFileIsRefused() throws {
        let missing = fixture.directory.file("missing")
        let text = "No such file or directory; name a file, or - for standard input"
        #expect(try fixture.run("bounce", "import", missing, "--yes").hasError(text, code: 1))
        #expect(try fixture.run("bounce", "import", "/", "--yes").hasError("Is a directory", code: 1))
    }

    @Test(arguments: [
        ["import"], ["import", "a", "b", "--yes"], ["import", "a", "--force"], ["import", "-"],
        ["import", "a", "--json"], ["import", "--yes"],
    ])
    func aMistakeIsAUsageError(_ words: [String]) throws {
        let result = try fixture.run(["bounce"] + words, input: Self.text)
        #expect(result.hasError("tweakctl: import: ", code: 2), "\(result)")
        #expect(tweaks.registry.revision == 0)
    }

    @Test func aDryRunPrintsWhatWouldChange() throws {
        let result = try fixture.run("bounce", "import", file(), "--dry-run")
        let lines = result.output.splitLines().dropLast().map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines == [
                "Content/Text/Size = 72 # was 60", "\"Content/Text/Font Name\" = \"Gill Sans\" # was \"Avenir Next\"",
            ])
        #expect(result.code == 0 && result.errors == "tweakctl: 2 of 3 values would change\n", "\(result)")
        #expect(tweaks.registry.revision == 0)
    }

    @Test func jsonIsOneObjectALine() throws {
        let dry = try fixture.run("bounce", "import", file(), "--dry-run", "--json")
        #expect(dry.output.splitLines().count == 4 && dry.output.contains("\"value\":72,\"was\":60"), "\(dry)")
        let applied = try fixture.run("bounce", "import", file(), "--yes", "--json")
        #expect(applied.output.hasPrefix("{\"ok\":true,\"rev\":1,") && applied.output.splitLines().count == 2)
    }

    /// The last of several lines for one tweak applies.
    @Test func theLastLineApplies() throws {
        let path = try file("Content/Text/Size = 72\nContent/Text/Size = 60\n")
        let dry = try fixture.run("bounce", "import", path, "--dry-run")
        #expect(dry.output == "" && dry.errors.contains("0 of 2 values would change"))
        #expect(try fixture.run("bounce", "import", path, "--yes").code == 0 && tweaks.size.value == 60)
    }

    @Test(.enabled(if: TweakctlFixture.hasTerminal), arguments: [("y", "code 0 ", 72.0), ("n", "code 1 ", 60.0)])
    func aTerminalIsAsked(_ key: String, _ code: String, _ size: Double) throws {
        let terminal = try fixture.terminal("bounce import \(try file())")
        let text = try terminal.read(through: "[y/N] ")
        #expect(text.contains("# was 60") && text.contains("2 of 3 values would change. Apply the file?"))
        #expect(tweaks.registry.revision == 0)
        try terminal.type(key + "\r")
        #expect(try terminal.read(through: "done\n").contains(code))
        #expect(tweaks.size.value == size)
    }

    /// What was shown is what is applied.
    @Test(.enabled(if: TweakctlFixture.hasTerminal)) func aChangeDuringTheQuestionIsAConflict() throws {
        let terminal = try fixture.terminal("bounce import \(try file())")
        try terminal.read(through: "[y/N] ")
        try tweaks.size.set(80)
        try terminal.type("y\r")
        let text = try terminal.read(through: "done\n")
        #expect(text.contains("conflict: ") && text.contains("code 1 ") && tweaks.size.value == 80)
    }

    /// More than the sockets hold, in both directions.
    @Test func aLongFileIsOneCommit() throws {
        let path = try file((0..<5_000).map { "Content/Text/Size = \(10 + $0 % 90)\n" }.joined())
        let result = try fixture.run("bounce", "import", path, "--yes")
        #expect(result.code == 0 && tweaks.registry.revision == 1 && tweaks.size.value == 59, "\(result.errors)")
    }
}
