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
        let files = try StateFiles(Folder(home.file("state")), isCopy: true)
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
            let files = try StateFiles(Folder(home.file("live")), isCopy: true)
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
