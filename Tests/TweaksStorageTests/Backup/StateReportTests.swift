// Tests what is said of state directories: of every edition, damaged ones, and one whose process writes.

import Foundation
import Testing
import Tweaks
import TweaksBackup
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct StateReportTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Fixtures").standardizedFileURL
    private let home: TemporaryDirectory
    private let time = ManualClock()

    /// The clock is at a day after all fixtures.
    init() throws {
        home = try TemporaryDirectory()
        time.jump(by: 620_000_000)
    }

    private func copy(_ edition: String) throws {
        try FileManager.default.copyItem(
            at: Self.fixtures.appendingPathComponent(edition), to: URL(fileURLWithPath: home.file("state")))
        try #require(chmod(home.file("state"), 0o700) == 0 && chmod(home.file("state/presets"), 0o700) == 0)
    }

    private func report() throws -> StateReport { try StateReport(Folder(home.file("state")), time: time) }

    private func problems(_ report: StateReport) -> [String] {
        report.files.flatMap { file in file.problems.map { "\(file.name): \($0)" } }
    }

    // MARK: Editions

    @Test(arguments: [
        (
            "state-1",
            ["overrides.json 1 14", "history.jsonl 1 21", "presets/warm.conf 1 11"]
        ),
        ("state-2", ["overrides.json 1 3", "history.jsonl 1 8", "config.last - 1", "presets/mine.conf 1 3"]),
        (
            "state-3",
            ["overrides.json 1 3", "history.jsonl 1 5", "config.last - 1", "presets/calm.conf 1 3"]
        ),
    ])
    func everyEditionIsReadCheckedAndBackedUp(_ edition: String, _ expected: [String]) throws {
        try copy(edition)
        let report = try report()
        #expect(report.files.map { "\($0.name) \($0.format.map { "\($0)" } ?? "-") \($0.count)" } == expected)
        #expect(!report.hasProblems, "\(problems(report))")
        let remarks = report.files.flatMap(\.remarks)
        #expect(remarks == (edition == "state-1" ? ["1 entry set aside by an earlier run"] : []))
        let files = try StateFiles(Folder(home.file("state")))
        let archive = try StateArchive(
            StateArchive(program: "probe", time: 0, files: files.contents).bytes)
        for (file, bytes) in archive.files {
            let original = try Data(contentsOf: URL(fileURLWithPath: home.file("state/\(file.name)")))
            #expect(Data(bytes) == original, "\(file.name)")
        }
        #expect(archive.files.count == expected.count)
    }

    @Test func nothingIsChanged() throws {
        try copy("state-2")
        let before = try home.allBytes()
        _ = try report()
        #expect(try home.allBytes() == before)
    }

    // MARK: Damage

    @Test(arguments: [
        ("overrides.json", "not JSON", "line 1: “{” is missing; nothing of it is read"),
        ("overrides.json", #"{"format":"tweaks-overrides","version":2}"#, "newer version (format 2, and this is 1)"),
        (
            "overrides.json", #"{"format":"tweaks-overrides","version":1,"overrides":[{"path":"A/B/C"}]}"#,
            "override 1, A/B/C: “kind” is missing or unknown; the entry is ignored"
        ),
        ("history.jsonl", "{}\n{}\n", "“format” is not “tweaks-history”; nothing of it is read"),
        ("history.jsonl", #"{"format":"tweaks-history","version":3}"# + "\n", "newer version (format 3, and"),
        ("config.last", "no assignment\n", "the next start does not know how the config file has changed"),
        ("presets/mine.conf", "# Tweaks preset, format 2\n", "newer version (format 2, and this is 1)"),
        ("presets/mine.conf", "A/B/C\n", "line 1: "),
        ("fleet-x.json", "tweaks fleet 2 abc\n{}\n", "newer version (format 2, and this is 1)"),
        ("fleet-x.json", "tweaks", "it is damaged, or cut short"),
    ])
    func whatIsNotReadHasAReason(_ name: String, _ text: String, _ expected: String) throws {
        try copy("state-2")
        try home.write(text, to: "state/\(name)")
        let found = problems(try report())
        #expect(found.count == 1 && found[0].hasPrefix("\(name): ") && found[0].contains(expected), "\(found)")
    }

    @Test func filesThatTheProcessWouldRefuseAreProblems() throws {
        try copy("state-2")
        try FileManager.default.removeItem(atPath: home.file("state/overrides.json"))
        try FileManager.default.createSymbolicLink(
            atPath: home.file("state/overrides.json"), withDestinationPath: "/etc/passwd")
        let expected = "overrides.json: it would not be read: it is a symbolic link; name the file itself"
        #expect(problems(try report()) == [expected])
        try #require(chmod(home.file("state"), 0o777) == 0)
        #expect(throws: FileProblem.self) { try report() }
        #expect(throws: FileProblem.self) { try StateReport(Folder(home.file("missing"))) }
    }

    /// Root reads all of them; the owner of the directory does not.
    @Test(
        .enabled(if: geteuid() == 0, "run it as root"),
        arguments: [
            ((0, 0, 0o600), "only root can read it (mode 600)"), ((0, 0, 0o644), nil), ((0, 7_001, 0o640), nil),
            ((0, 7_002, 0o640), "only root can read it (mode 640)"), ((7_001, 0, 0o600), nil),
            ((7_002, 7_001, 0o644), "it belongs to uid 7002"),
        ] as [((owner: UInt32, group: UInt32, mode: UInt32), String?)])
    func whatOnlyRootCanReadIsAProblem(_ file: (owner: UInt32, group: UInt32, mode: UInt32), _ reason: String?) throws {
        try copy("state-2")
        for path in try ["", "presets"] + FileManager.default.subpathsOfDirectory(atPath: home.file("state")) {
            try #require(chown(home.file("state/\(path)"), 7_001, 7_001) == 0)
        }
        let overrides = home.file("state/overrides.json")
        try #require(chown(overrides, file.owner, file.group) == 0 && chmod(overrides, mode_t(file.mode)) == 0)
        let expected = reason.map { ["overrides.json: it would not be read: \($0); chown it to uid 7001"] } ?? []
        #expect(problems(try report()) == expected)
        try #require(chown(home.file("state/presets"), 0, 0) == 0)
        let presets = "presets: it would not be read: only root can read it (mode 700); chown it to uid 7001"
        #expect(problems(try report()).contains(presets))
    }

    @Test func leftoversAreRemarks() throws {
        try copy("state-2")
        let leftovers = ["overrides.json.unreadable-20261121T093000Z", "overrides.json.77.tmp"]
        for name in leftovers + ["audit.log", "panel.token"] { try home.write("x", to: "state/\(name)") }
        let report = try report()
        let names = report.files.filter { !$0.remarks.isEmpty }.map(\.name)
        #expect(!report.hasProblems)
        #expect(Set(names).isSuperset(of: leftovers))
        #expect(!report.files.contains { ["audit.log", "panel.token"].contains($0.name) })
    }

    // MARK: A process that writes

    /// The history is written first: a copy between the two writes has the changes of the overrides alone.
    @Test func whatTheHistoryHasBeyondTheOverridesIsARemark() throws {
        let files = FailingFileSystem()
        let run = ProgramRun(home.file("state"), files: files, keepsHistory: true)
        let (first, second) = (try run.number("N"), try run.number("M"))
        run.save(first, 2)
        files.plan { $0.kind == .rename ? .fails(ENOSPC) : nil }
        run.save(first, 3)
        run.save(second, 4)
        let report = try report()
        #expect(!report.hasProblems && report.revision == 1 && report.commits == 1)
        #expect(report.files.last?.remarks.first?.hasPrefix("what 2 commits set after the revision of") == true)
        files.plan(nil)
        run.store.close()
    }

    /// A process that keeps replacing its history is waited for, and not for ever.
    @Test func aHistoryThatIsReplacedDuringEachReadIsAnError() throws {
        try copy("state-2")
        let (state, files) = (home.file("state"), FailingFileSystem())
        let bytes = try #require(home.read("state/history.jsonl"))
        let isReplacing = Recorder<Bool>()
        files.plan { call in
            guard call.kind == .open, call.name == "overrides.json", isReplacing.all.count < 3 else { return nil }
            isReplacing.note(true)
            try? Data(bytes.utf8).write(to: URL(fileURLWithPath: "\(state)/history.jsonl"), options: .atomic)
            return nil
        }
        #expect(try StateFiles(Folder(state, files)).contents.count == 4)
        #expect(isReplacing.all.count == 3)
    }

    /// At any moment of a copy, the history has each commit of the overrides, and no more after a recovery.
    @Test func aCopyIsThatOfOneMoment() throws {
        let run = ProgramRun(home.file("live"), keepsHistory: true)
        let number = try run.number("N")
        let last = quantity(2_000, few: 150)
        let writer = Thread { for value in 1...last { run.save(number, Double(value + 1)) } }
        run.save(number, 1.5)
        writer.start()
        var revision: UInt64 = 0
        while revision <= UInt64(last) {
            let files = try StateFiles(Folder(home.file("live")))
            let report = StateReport(files.contents)
            #expect(!report.hasProblems && report.overrideCount == 1, "\(problems(report))")
            let copy = try TemporaryDirectory()
            for (file, bytes) in files.contents {
                try Data(bytes).write(to: URL(fileURLWithPath: copy.file(file.name)))
            }
            let again = ProgramRun(copy.path, keepsHistory: true)
            let read = try again.number("N")
            revision = again.registry.revision
            #expect(read.value == (revision == 1 ? 1.5 : Double(revision)))
            #expect(again.registry.history.first?.revision == revision)
            #expect(again.events.count == 1, "\(again.events)")
            again.store.close()
        }
        run.store.close()
    }
}

extension TemporaryDirectory {
    /// The content of all files.
    func allBytes() throws -> [String: Data] {
        var all: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            all[name] = FileManager.default.contents(atPath: file(name))
        }
        return all
    }
}
