// Tests backup, restore and state check: a program is saved while it runs, restored, and checked.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksBackup
import TweaksStorage
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists && BuiltProgram.exists("hello")))
struct StateCommandTests {
    private let fixture: TweakctlFixture
    private var file: String { fixture.directory.file("hello.tar") }
    private var state: String { fixture.directory.file("home/.local/state/hello") }

    init() throws { fixture = try TweakctlFixture() }

    /// Starts the example hello in the environment of the fixture, where tweakctl finds its socket and its state.
    private func start() throws -> RunningProgram {
        let receiver = try BoundSocket(fixture.directory.file("notify"), for: .datagrams)
        defer { unlink(fixture.directory.file("notify")) }
        let variables = ["TWEAKS_PORT": "off", "NOTIFY_SOCKET": receiver.address]
        let program = try RunningProgram(
            BuiltProgram.path("hello"), environment: fixture.environment.merging(variables) { $1 }, output: .dropped,
            errors: .dropped)
        #expect(try receiver.next().hasPrefix("READY=1"))
        return program
    }

    private func stop(_ program: RunningProgram) throws {
        program.signal(SIGTERM)
        try #expect(program.waitForEnd() == 0)
    }

    private func set(_ words: String) throws {
        #expect(try fixture.run("hello", "Greeting/Text/Words", "=", words).code == 0)
    }

    // MARK: The whole way

    @Test func aStateIsSavedWhileItsProgramRunsAndRestored() throws {
        let first = try start()
        try set("one")
        #expect(try fixture.run("hello", "save", "warm").code == 0)
        let saved = try fixture.run("hello", "backup", file)
        #expect(saved == .init(output: "saved 1 override, 1 commit and 1 preset in \(file)\n"))
        var info = stat()
        #expect(stat(file, &info) == 0 && info.st_mode & 0o777 == 0o600)
        try set("two")
        #expect(try fixture.run("hello", "delete", "warm").code == 0)
        // Not while it runs, neither by its name nor by its directory.
        #expect(try fixture.run("hello", "restore", file, "--yes").hasError("“hello” is running", code: 1))
        let locked = try fixture.run("hello", "restore", file, "--yes", "--state", state)
        #expect(locked.hasError("restore: a process uses \(state); stop it, and restore then", code: 1))
        try stop(first)

        let dry = try fixture.run("hello", "restore", file, "--dry-run")
        #expect(dry.code == 0 && dry.errors.contains("nothing has changed"))
        #expect(
            dry.output.splitLines().dropFirst() == [
                "  overrides: 0 added, 1 changed, 0 removed", "  presets: 1 added, 0 changed, 0 removed",
                "  history: 1 commit in place of 2", "",
            ])
        #expect(try fixture.run("hello", "restore", file).code == 2, "there is nobody to ask")
        let restored = try fixture.run("hello", "restore", file, "--yes")
        #expect(restored.code == 0)
        #expect(restored.output.contains("restored 1 override, 1 commit and 1 preset in \(state)"))
        #expect(restored.output.contains("the old files are kept: history.jsonl.before-restore-"))

        let second = try start()
        #expect(try fixture.run("hello", "modified").output.hasPrefix("Greeting/Text/Words = \"one\""))
        #expect(try fixture.run("hello", "history").output.splitLines().count == 2)
        #expect(try fixture.run("hello", "presets").output.contains("warm"))
        try stop(second)
        let check = try fixture.run("state", "check", state)
        #expect(check.code == 0 && check.output.contains("kept by a restore"), "\(check)")
        #expect(check.output.hasSuffix("ok: all of it would be read\n"))
    }

    @Test func jsonSaysTheSame() throws {
        let program = try start()
        try set("one")
        let saved = try #require(JSON(try fixture.run("hello", "backup", file, "--json").output))
        #expect(saved["ok"] == .bool(true) && saved["overrides"]?.wholeNumber == 1)
        #expect(saved["revision"]?.wholeNumber == 1)
        try stop(program)
        try FileManager.default.removeItem(atPath: state)
        #expect(try fixture.run("hello", "restore", file, "--json").code == 2)
        let dry = try #require(JSON(try fixture.run("hello", "restore", file, "--json", "--dry-run").output))
        #expect(dry["dry"] == .bool(true) && dry["overrideChanges"]?["added"]?.wholeNumber == 1)
        #expect(!FileManager.default.fileExists(atPath: state))
        let restored = try #require(JSON(try fixture.run("hello", "restore", file, "--json", "--yes").output))
        #expect(restored["directory"]?.string == state && restored["kept"]?.elements.isEmpty == true)
        let check = try #require(JSON(try fixture.run("state", "check", state, "--json").output))
        #expect(check["ok"] == .bool(true) && check["files"]?.elements.count == 2 && check["commits"]?.wholeNumber == 1)
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(state)/history.jsonl"))
        let damaged = try fixture.run("state", "check", state, "--json")
        #expect(damaged.code == 1 && JSON(damaged.output)?["ok"] == .bool(false))
        #expect(try fixture.run("state", "check", state).hasError("history.jsonl: its first line has no end", code: 1))
    }

    @Test func aFileIsReplacedOnlyIfThatWasRequested() throws {
        let program = try start()
        try fixture.directory.write("mine", to: "hello.tar")
        #expect(try fixture.run("hello", "backup", file).hasError("exists; name another file", code: 1))
        #expect(fixture.directory.read("hello.tar") == "mine")
        #expect(try fixture.run("hello", "backup", file, "--force").code == 0)
        #expect(try StateArchive(Array(#require(FileManager.default.contents(atPath: file)))).program == "hello")
        #expect(!fixture.directory.names().contains { $0.hasSuffix(".part") })
        let missing = try fixture.run("hello", "backup", "/nonexistent/x")
        #expect(missing.hasError("backup: /nonexistent", code: 1))
        try stop(program)
    }

    // MARK: Refusals

    @Test func aProcessThatStoresNothingHasNoBackup() throws {
        try fixture.daemon { $0.storage = .off }
        #expect(try fixture.run("bounce", "backup", file).hasError("bounce stores nothing", code: 1))
        try fixture.server("plain")
        #expect(try fixture.run("plain", "backup", file).hasError("plain stores nothing", code: 1))
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test(arguments: [
        (["hello", "restore"], "use tweakctl NAME restore"), (["restore", "x"], "name the program"),
        (["hello", "restore", "a", "b"], "use tweakctl NAME restore"),
        (["hello", "restore", "x", "--stat", "y"], "did you mean --state?"),
        (["hello", "restore", "x", "--state"], "--state takes one directory"),
        (["-s", "/x", "hello", "restore", "x"], "it connects to no process"),
        (["state"], "use tweakctl state check DIR"), (["state", "check"], "use tweakctl state check DIR"),
        (["-s", "/x", "state", "check", "."], "leave -s and -H out"),
        (["-H", "127.0.0.1:1", "backup", "x"], "it reads the files of the process, on its machine"),
    ])
    func wrongArgumentsAreUsageErrors(_ arguments: [String], _ expected: String) throws {
        #expect(try fixture.run(arguments).hasError(expected, code: 2))
    }

    /// Nothing is done with a file that is not wholly a backup.
    @Test(arguments: [
        ("", "it is cut short"), ("not a backup", "it is cut short"),
        (String(repeating: "x", count: 2_048), "it is damaged, or no tar archive"),
    ])
    func anotherFileIsNotRestored(_ text: String, _ expected: String) throws {
        try fixture.directory.write(text, to: "hello.tar")
        let result = try fixture.run("hello", "restore", file, "--yes")
        #expect(result.hasError("restore: \(file): \(expected)", code: 1))
        #expect(!FileManager.default.fileExists(atPath: state))
    }

    @Test func aBackupThatWouldNotBeReadIsNotRestored() throws {
        let archive = StateArchive(program: "hello", time: 0, files: [(.overrides, Array("{".utf8))])
        try Data(archive.bytes).write(to: URL(fileURLWithPath: file))
        let result = try fixture.run("hello", "restore", file, "--yes")
        #expect(result.hasError("a part of it would not be read; nothing has changed", code: 1))
        #expect(result.errors.contains("overrides.json: line 1: "))
    }

    @Test func aPresetMayBeNamedRestore() throws {
        try fixture.daemon { $0.storage = .directory(fixture.directory.file("state")) }
        #expect(try fixture.run("save", "restore").code == 0)
        #expect(try fixture.run("load", "restore").code == 0)
    }

    // MARK: A process that is killed

    /// Each backup that was made can be restored, and has every value that was answered before it began.
    @Test func backupsDuringChangesAndAfterKillsAreWhole() throws {
        for round in 1...quantity(30, few: 3) {
            let program = try start()
            let client = try TestClient(unix: fixture.socket("hello"))
            let answer = try #require(client.ask("Greeting/Text/Words = \"\(round) begins\"").last)
            let first = try #require(UInt64(answer.dropFirst("ok rev ".count)))
            var answered = 0
            let backup = try fixture.start(["hello", "backup", file, "--force"], input: "")
            while backup.isRunning, program.isRunning {
                answered += 1
                let answer = try client.ask("Greeting/Text/Words = \"\(round) \(answered)\"").last
                #expect(answer?.hasPrefix("ok rev ") == true)
                if answered == 20, round.isMultiple(of: 2) { try program.kill() }
            }
            let result = try backup.result()
            if program.isRunning {
                #expect(result.code == 0, "\(result)")
                try program.kill()
            }
            guard FileManager.default.fileExists(atPath: file) else { continue }
            let archive = try StateArchive(Array(#require(FileManager.default.contents(atPath: file))))
            let report = StateReport(archive.files)
            #expect(!report.hasProblems, "\(report.files)")
            #expect(report.overrideCount == 1)
            if result.code == 0 { #expect(report.revision ?? 0 >= first && report.commits > 0) }
            let restored = try fixture.run("hello", "restore", file, "--yes")
            #expect(restored.code == 0, "\(restored)")
            let again = try start()
            let revision = try fixture.run("hello", "stats", "--json")
            #expect(JSON(revision.output)?["rev"]?.wholeNumber == report.revision ?? 0, "\(revision)")
            try stop(again)
        }
    }
}
