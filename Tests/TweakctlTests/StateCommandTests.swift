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
        #expect(saved["storage"] == .string("saved") && saved["program"] == .string("hello"))
        try FileManager.default.removeItem(atPath: state)
        #expect(try fixture.run("hello", "restore", file, "--json").code == 2)
        let missing = try fixture.run("hello", "restore", file, "--yes")
        #expect(missing.hasError("; make it as the user of the program: mkdir -m 700 -p \(state)", code: 1))
        try fixture.directory.makeFolder("home/.local/state/hello")
        let dry = try #require(JSON(try fixture.run("hello", "restore", file, "--json", "--dry-run").output))
        #expect(dry["dry"] == .bool(true) && dry["overrideChanges"]?["added"]?.wholeNumber == 1)
        #expect(fixture.directory.names("home/.local/state/hello").isEmpty)
        #expect(dry["program"] == .string("hello") && dry["time"]?.string?.hasSuffix("Z") == true)
        let restored = try #require(JSON(try fixture.run("hello", "restore", file, "--json", "--yes").output))
        #expect(restored["directory"]?.string == state && restored["kept"]?.elements.isEmpty == true)
        let check = try #require(JSON(try fixture.run("state", "check", state, "--json").output))
        #expect(check["ok"] == .bool(true) && check["files"]?.elements.count == 2 && check["commits"]?.wholeNumber == 1)
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(state)/history.jsonl"))
        let damaged = try fixture.run("state", "check", state, "--json")
        #expect(damaged.code == 1 && JSON(damaged.output)?["ok"] == .bool(false))
        #expect(JSON(damaged.output)?["error"]?["code"] == .string("refused"))
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
        (["hello", "restore", "x", "--from"], "--from takes the name of a program"),
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

    private func makeArchive(_ text: String, program: String = "hello") throws {
        let archive = StateArchive(program: program, time: 0, files: [(.overrides, Array(text.utf8))])
        try Data(archive.bytes).write(to: URL(fileURLWithPath: file))
        try fixture.directory.makeFolder("home/.local/state/hello")
    }

    @Test(arguments: ["{", #"{"format":"tweaks-overrides","version":2}"#])
    func aBackupOfWhichNothingWouldBeReadIsNotRestored(_ text: String) throws {
        try makeArchive(text)
        let result = try fixture.run("hello", "restore", file, "--yes")
        #expect(result.hasError("nothing of such a file would be read; nothing has changed", code: 1))
        #expect(result.errors.contains("overrides.json: "))
        #expect(fixture.directory.names("home/.local/state/hello").isEmpty)
    }

    /// The state that was saved had it, too.
    @Test func anEntryThatWouldNotBeReadIsAWarning() throws {
        let text = #"{"format":"tweaks-overrides","version":1,"overrides":[{"path":"A/B/C"}]}"#
        try makeArchive(text)
        let result = try fixture.run("hello", "restore", file, "--yes")
        #expect(result.code == 0 && result.errors.contains("A/B/C: “kind” is missing"), "\(result)")
        #expect(fixture.directory.read("home/.local/state/hello/overrides.json") == text)
    }

    @Test func theBackupOfAnotherProgramIsRestoredOnlyByItsName() throws {
        try makeArchive(#"{"format":"tweaks-overrides","version":1,"overrides":[]}"#, program: "bounce")
        let refused = try fixture.run("hello", "restore", file, "--yes")
        #expect(refused.hasError("is a backup of bounce, and not of hello", code: 1))
        #expect(refused.errors.contains("use --from bounce"))
        let other = try fixture.run("hello", "restore", file, "--yes", "--from", "probe")
        #expect(other.hasError("is a backup of bounce, and not of probe", code: 1))
        #expect(try fixture.run("hello", "restore", file, "--yes", "--from", "bounce").code == 0)
    }

    /// The lock is not held while a person thinks, and what was shown is what is replaced.
    @Test(.enabled(if: TweakctlFixture.hasTerminal), arguments: ["n", "y", "starts", "changes"])
    func theProgramCanStartDuringTheQuestion(_ key: String) throws {
        try makeArchive(#"{"format":"tweaks-overrides","version":1,"revision":7,"overrides":[]}"#)
        let terminal = try fixture.terminal("hello restore \(file)")
        try terminal.read(through: "[y/N] ")
        #expect(fixture.directory.names("home/.local/state/hello").isEmpty)
        let program = ["starts", "changes"].contains(key) ? try start() : nil
        if key == "changes" { try set("one") }
        if key == "changes", let program { try stop(program) }
        try terminal.type(key == "n" ? "n\r" : "y\r")
        let text = try terminal.read(through: "done\n")
        let expected = [
            "y": "restored 0 overrides", "starts": "a process uses \(state); stop it", "n": "code 1 ",
            "changes": "\(state) has changed meanwhile; look at it again",
        ]
        #expect(text.contains(expected[key] ?? "?") && text.contains(key == "y" ? "code 0 " : "code 1 "), "\(text)")
        if key == "starts", let program { try stop(program) }
    }

    // MARK: What is not on disk

    /// Runs a backup of a process that says of its storage and its history what these are, one after the other.
    private func backup(_ answers: [(storage: String, history: String)]) throws -> TweakctlFixture.Result {
        try fixture.directory.makeFolder("state")
        try fixture.directory.write(
            #"{"format":"tweaks-overrides","version":1,"overrides":[]}"#, to: "state/overrides.json")
        let server = try FakeServer(fixture.directory.file("fake"))
        let backup = try fixture.start(["-s", server.address, "backup", file], input: "")
        let peer = try server.accept()
        try peer.answer("json on", #"{"ok":true}"#)
        let stored = fixture.directory.file("state/overrides.json")
        for (storage, history) in answers {
            let words = #""name":"bounce","storage":"\#(storage)","history":"\#(history)","storageFile":"\#(stored)""#
            try peer.answer("stats", "{\"ok\":true,\(words)}")
        }
        return try backup.result()
    }

    @Test func aBackupWaitsForTheWriteOfADrag() throws {
        let waiting = ("waiting: a drag has not ended", "saved")
        let result = try backup([waiting, waiting, ("saved", "saved")])
        #expect(result.code == 0 && result.errors == "", "\(result)")
        #expect(try StateArchive(Array(#require(FileManager.default.contents(atPath: file)))).program == "bounce")
    }

    @Test(arguments: [("unsaved: No space left", "saved"), ("saved", "unsaved: No space left")])
    func unsavedChangesHaveNoBackup(_ storage: String, _ history: String) throws {
        let result = try backup([(storage, history)])
        #expect(result.hasError("has changes that are not on disk: unsaved: No space left", code: 1), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: file))
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
