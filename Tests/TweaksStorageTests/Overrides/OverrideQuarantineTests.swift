// Tests which files are quarantined or left alone, and which directories are refused.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct OverrideQuarantineTests {
    private let home: TemporaryDirectory
    private let time = ManualClock()
    private let quarantineName = "overrides.json.unreadable-20261121T093000Z"

    init() throws {
        home = try TemporaryDirectory()
        try home.makeFolder("state")
    }

    private func start(_ files: any FileSystem = PosixFileSystem()) -> ProgramRun {
        ProgramRun(home.file("state"), files: files, time: time)
    }

    @Test(arguments: [
        ("", "“{” is missing"), ("{\"format\": 1}", "“format” is not a string"), ("\u{0}\u{0}\u{0}", "“{” is missing"),
        ("{\"format\":\"tweaks-overrides\",\"version\":1,\"overrides\":[{]}", "a text in quotes"),
    ])
    func anUnreadableFileIsKeptUnderAnotherName(text: String, reason: String) throws {
        try home.write(text, to: "state/overrides.json")
        let run = start()
        let size = try run.number("Size")
        #expect(size.value == 1)
        guard case .quarantined(let file, quarantineName, let reported)? = run.events.first else {
            Issue.record("\(run.events)")
            return
        }
        #expect(file == run.file && reported.contains(reason) && run.events.count == 2)
        #expect(run.save(size, 2) == nil && home.read("state/\(quarantineName)") == text)
        #expect(run.text?.contains("A/B/Size") == true)
    }

    @Test func anInvalidEntryIsKeptAndReportedAtEachStart() throws {
        let entry = { (path: String, kind: String, time: String) in
            #"{"path":"A/B/\#(path)","kind":"\#(kind)","value":2,"origin":"code","time":"\#(time)"}"#
        }
        let good = entry("Size", "number", "2026-11-21T09:30:00Z")
        let bad = [
            entry("Wish", "action", "2026-11-21T09:30:00Z"), entry("Late", "number", "yesterday"),
            entry("Size", "number", "2026-11-20T09:30:00Z"),
        ]
        let list = ([good] + bad).joined(separator: ",")
        try home.write(#"{"format":"tweaks-overrides","version":1,"overrides":[\#(list)]}"#, to: "state/overrides.json")
        for _ in 1...2 {
            let run = start()
            #expect(try run.number("Size").value == 2)
            let reported = run.events.filter { if case .entryQuarantined = $0 { true } else { false } }
            #expect(reported.count == 3 && run.events.count == 4)
            for (event, reason) in zip(reported, ["A/B/Wish: “kind”", "A/B/Late: “time”", "A/B/Size is there twice"]) {
                #expect(event.description.contains(reason) && event.description.contains("kept in the file"))
            }
            #expect(run.store.info.entriesQuarantined == 3 && run.store.info.lastQuarantined == nil)
        }
        for value in [3.0, 4.0] {
            let run = start()
            #expect(run.store.info.entriesQuarantined == 3)
            #expect(try run.save("Size", value) == nil)
            let text = try #require(run.text)
            #expect(bad.allSatisfy { text.contains($0) })
            let list = try #require(text.firstRange(of: #""setAside": ["#))
            #expect(text[list.upperBound...].contains(bad[0]))
        }
        // A quarantined entry does not replace one that was reset.
        do {
            let run = start()
            try run.number("Size").reset()
            #expect(run.flush() == nil)
        }
        let run = start()
        #expect(try run.number("Size").value == 1 && run.number("Late").value == 1)
        #expect(run.store.info.entries == 0 && run.store.info.entriesQuarantined == 3)
    }

    @Test(arguments: ["directory", "link", "pipe", "another user's", "huge"])
    func whatIsNotARegularFileOfOursIsKept(kind: String) throws {
        let path = home.file("state/overrides.json")
        switch kind {
        case "directory": mkdir(path, 0o700)
        case "link": symlink("/etc/passwd", path)
        case "pipe": mkfifo(path, 0o600)
        case "another user's":
            try home.write("{}", to: "state/overrides.json")
            if chown(path, 12_345, 12_345) != 0 { try Test.cancel("only root can give a file away") }
        default:
            try home.write("", to: "state/overrides.json")
            truncate(path, 67_108_865)
        }
        let run = start()
        #expect(try run.save("Size", 2) == nil)
        #expect(home.names("state") == ["lock", "overrides.json", quarantineName])
        #expect(run.store.info.lastQuarantined == quarantineName)
    }

    @Test func quarantinedFilesAreNeverOverwritten() throws {
        for round in 1...3 {
            try home.write("broken \(round)", to: "state/overrides.json")
            start().store.close()
        }
        let kept = ["", "-2", "-3"].map { home.read("state/\(quarantineName)\($0)") }
        #expect(kept == ["broken 1", "broken 2", "broken 3"])
    }

    @Test func nothingIsWrittenIfTheFileCannotBeQuarantined() throws {
        try home.write("broken", to: "state/overrides.json")
        let files = FailingFileSystem()
        files.plan { $0.kind == .rename ? .fails(EPERM) : nil }
        let run = start(files)
        files.plan(nil)
        #expect(try run.save("Size", 2)?.hasPrefix("overrides.json cannot be read: line 1") == true)
        #expect(run.store.info.state.hasPrefix("off: "))
        run.store.close()
        #expect(home.read("state/overrides.json") == "broken")
        #expect(run.events.count == 1 && "\(run.events[0])".contains("nor renamed"))
    }

    @Test func aShortageOfDescriptorsIsNotABrokenFile() throws {
        try home.withRun(time: time) { run in for name in ["Kept", "Reset"] { try run.number(name).value = 2 } }
        let files = FailingFileSystem()
        files.plan { $0.kind == .open && $0.name == "overrides.json" ? .fails(EMFILE) : nil }
        let run = start(files)
        #expect("\(run.events)".contains("Too many open files"))
        #expect(try run.save("New", 3) != nil)
        let reset = try run.number("Reset")
        reset.value = 5
        reset.reset()
        files.plan(nil)
        time.advance(whenAsleepFor: .milliseconds(20))
        #expect(run.isSavedEventually())
        #expect(run.events.dropFirst().first == .foundLate(path: run.file, entries: 2))
        #expect(["Kept", "New", "Reset"].map { run.text?.contains($0) } == [true, true, false])
    }

    @Test func aNewerVersionIsLeftAlone() throws {
        let text = #"{"format": "tweaks-overrides", "version": 2, "overrides": "elsewhere"}"#
        try home.write(text, to: "state/overrides.json")
        let run = start()
        #expect(try run.save("Size", 2) == "overrides.json was written by a newer version")
        #expect(try run.propose(["Size": 3]) == "overrides.json was written by a newer version")
        run.store.close()
        #expect(home.names("state") == ["lock", "overrides.json"] && home.read("state/overrides.json") == text)
        #expect(run.events.map { if case .newerVersion = $0 { true } else { false } } == [true])
    }

    // MARK: Directories

    @Test func aDirectoryOfOthersIsRefusedUntilItIsFixed() throws {
        chmod(home.file("state"), 0o770)
        let run = start()
        #expect("\(run.events)".contains("chmod 700 it"))
        #expect(try run.save("Size", 2) == "others can write in the state directory")
        #expect(home.names("state") == [])
        if chown(home.file("state"), 12_345, 12_345) == 0 {
            time.advance(by: .milliseconds(20))
            #expect(try run.save("Size", 3) == "the state directory belongs to uid 12345")
            chown(home.file("state"), geteuid(), getegid())
        }
        chmod(home.file("state"), 0o700)
        time.advance(by: .seconds(30))
        #expect(run.isSavedEventually())
    }

    @Test func aStickyDirectoryBehindALinkIsAccepted() throws {
        chmod(home.file("state"), 0o1777)
        symlink(home.file("state"), home.file("link"))
        #expect(try ProgramRun(home.file("link")).save("Size", 2) == nil)
    }

    @Test func aDirectoryThatCannotBeCreatedIsRetried() throws {
        try home.write("a file", to: "file")
        let run = ProgramRun(home.file("file/state"), time: time)
        #expect(try run.save("Size", 2) == "Not a directory (making the directory)")
        try FileManager.default.removeItem(atPath: home.file("file"))
        time.advance(by: .seconds(1))
        #expect(run.isSavedEventually())
    }

    @Test func withoutADirectoryNothingIsSavedAndThatIsReportedOnce() throws {
        let events = Recorder<OverrideStore.Event>()
        let store = OverrideStore(directory: .failure(.init("HOME is not set")), program: "test") { events.note($0) }
        let registry = TweakRegistry()
        store.open(registry)
        try registry.register("A", "B", "C", 1).value = 2
        #expect(store.status.answer(for: 1) == .unsaved("HOME is not set"))
        store.close()
        #expect(events.all == [.unusable(reason: "overrides are not saved: HOME is not set")])
    }

    @Test func theRevisionOfAFileFoundLateIsNotWhatThisRunHasSaved() throws {
        let text = #"{"format": "tweaks-overrides", "version": 1, "program": "test", "revision": 500, "overrides": []}"#
        try home.write(text, to: "state/overrides.json")
        chmod(home.file("state"), 0o770)
        let run = ProgramRun(home.file("state"), isRequired: true, time: time)
        #expect(try run.propose(["Size": 2]) == "others can write in the state directory")
        chmod(home.file("state"), 0o700)
        time.advance(by: .seconds(30))
        #expect(run.isSavedEventually() && run.store.status.answer(for: 1) == .pending)
    }
}
