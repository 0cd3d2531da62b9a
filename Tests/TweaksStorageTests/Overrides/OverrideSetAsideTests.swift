// Files that are not taken: set aside as evidence, or left alone; and directories that are not ours.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite("Overrides on disk: what cannot be taken", .blocking)
struct OverrideSetAsideTests {
    private let home: TemporaryDirectory
    private let time = ManualTime()
    private let aside = "overrides.json.unreadable-20261121T093000Z"

    init() throws {
        home = try TemporaryDirectory()
        mkdir(home.file("state"), 0o700)
    }

    private func life(_ files: any FileSystem = PosixFileSystem()) -> StoredLife {
        StoredLife(home.file("state"), files: files, time: time)
    }

    @Test(
        "a file that cannot be read is kept under another name",
        arguments: [
            ("", "“{” is missing"), ("{\"format\": 1}", "“format” is no text"), ("\u{0}\u{0}\u{0}", "“{” is missing"),
            ("{\"format\":\"tweaks-overrides\",\"version\":1,\"overrides\":[{]}", "a text in quotes"),
        ])
    func broken(text: String, reason: String) throws {
        try home.write(text, to: "state/overrides.json")
        let life = life()
        let size = try life.number("Size")
        #expect(size.value == 1)
        guard case .setAside(let file, aside, let said)? = life.events.first else {
            Issue.record("\(life.events)")
            return
        }
        #expect(file == life.file)
        #expect(said.contains(reason))
        #expect(life.events.count == 2)
        size.value = 2
        #expect(life.tried() == nil)
        #expect(home.read("state/\(aside)") == text)
        #expect(life.text?.contains("A/B/Size") == true)
    }

    @Test("an entry that cannot be taken is kept alone, said at each start, and outlives every rewrite")
    func entries() throws {
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
            let life = life()
            let size = try life.number("Size")
            #expect(size.value == 2)
            let said = life.events.filter { if case .entrySetAside = $0 { true } else { false } }.map(\.description)
            #expect(said.count == 3 && life.events.count == 4)
            for (line, reason) in zip(said, ["A/B/Wish: “kind”", "A/B/Late: “time”", "A/B/Size is there twice"]) {
                #expect(line.contains(reason) && line.contains("kept in the file"))
            }
            #expect(life.store.facts.entriesSetAside == 3 && life.store.facts.setAside == nil)
        }
        for value in [3.0, 4.0] {
            let life = life()
            #expect(life.store.facts.entriesSetAside == 3)
            try life.number("Size").value = value
            #expect(life.tried() == nil)
            let text = try #require(life.text)
            for entry in bad { #expect(text.contains(entry)) }
            let aside = try #require(text.firstRange(of: #""setAside": ["#))
            #expect(text[aside.upperBound...].contains(bad[0]))
        }
        // What was reset does not come back with one of them.
        do {
            let life = life()
            try life.number("Size").reset()
            #expect(life.tried() == nil)
        }
        let life = life()
        #expect(try life.number("Size").value == 1 && life.number("Late").value == 1)
        #expect(life.store.facts.entries == 0 && life.store.facts.entriesSetAside == 3)
    }

    @Test("what is no file at all is kept, too", arguments: ["directory", "link", "pipe", "foreign", "huge"])
    func strange(what: String) throws {
        let path = home.file("state/overrides.json")
        switch what {
        case "directory": mkdir(path, 0o700)
        case "link": symlink("/etc/passwd", path)
        case "pipe": mkfifo(path, 0o600)
        case "foreign":
            try home.write("{}", to: "state/overrides.json")
            if chown(path, 12_345, 12_345) != 0 { try Test.cancel("only root can give a file away") }
        default:
            try home.write("", to: "state/overrides.json")
            truncate(path, 67_108_865)
        }
        let life = life()
        try life.number("Size").value = 2
        #expect(life.tried() == nil)
        #expect(home.names("state") == ["lock", "overrides.json", aside])
        #expect(life.store.facts.setAside == aside)
    }

    @Test("evidence is never overwritten")
    func counter() throws {
        for round in 1...3 {
            try home.write("broken \(round)", to: "state/overrides.json")
            life().store.close()
        }
        #expect(home.read("state/\(aside)") == "broken 1")
        #expect(home.read("state/\(aside)-2") == "broken 2")
        #expect(home.read("state/\(aside)-3") == "broken 3")
    }

    @Test("where it cannot be set aside, nothing is written")
    func immovable() throws {
        try home.write("broken", to: "state/overrides.json")
        let files = FailingFileSystem()
        files.plan { $0.kind == .rename ? .fails(EPERM) : nil }
        let life = life(files)
        files.plan(nil)
        try life.number("Size").value = 2
        #expect(life.tried()?.hasPrefix("overrides.json cannot be read: line 1") == true)
        #expect(life.store.facts.state.hasPrefix("off: "))
        life.store.close()
        #expect(home.read("state/overrides.json") == "broken")
        #expect(life.events.count == 1)
        #expect("\(life.events[0])".contains("nor set aside"))
    }

    @Test("a process that is short of descriptors takes no file for broken")
    func shortage() throws {
        do {
            let life = life()
            try life.number("Kept").value = 2
            try life.number("Reset").value = 2
            life.store.close()
        }
        let files = FailingFileSystem()
        files.plan { $0.kind == .open && $0.name == "overrides.json" ? .fails(EMFILE) : nil }
        let life = life(files)
        #expect("\(life.events)".contains("Too many open files"))
        try life.number("New").value = 3
        #expect(life.tried() != nil)
        let reset = try life.number("Reset")
        reset.value = 5
        reset.reset()
        files.plan(nil)
        time.waitUntilAsleep(for: .milliseconds(20))
        time.advance(by: .milliseconds(20))
        #expect(life.isSavedInTheEnd())
        #expect(life.events.dropFirst().first == .foundLate(path: life.file, entries: 2))
        #expect(life.text?.contains("Kept") == true)
        #expect(life.text?.contains("New") == true)
        #expect(life.text?.contains("Reset") == false)
    }

    @Test("a newer version is left alone")
    func newer() throws {
        let text = #"{"format": "tweaks-overrides", "version": 2, "overrides": "elsewhere"}"#
        try home.write(text, to: "state/overrides.json")
        let life = life()
        try life.number("Size").value = 2
        #expect(life.tried() == "overrides.json was written by a newer version")
        #expect(try life.propose(["Size": 3]) == "overrides.json was written by a newer version")
        life.store.close()
        #expect(home.names("state") == ["lock", "overrides.json"])
        #expect(home.read("state/overrides.json") == text)
        guard case .newerVersion? = life.events.first else {
            Issue.record("\(life.events)")
            return
        }
        #expect(life.events.count == 1)
    }

    // MARK: Directories

    @Test("a directory that others can write to, or that is another's, is refused until that is mended")
    func unsafe() throws {
        chmod(home.file("state"), 0o770)
        let life = life()
        #expect("\(life.events)".contains("chmod 700 it"))
        try life.number("Size").value = 2
        #expect(life.tried() == "others can write in the state directory")
        #expect(home.names("state") == [])
        if chown(home.file("state"), 12_345, 12_345) == 0 {
            time.advance(by: .milliseconds(20))
            try life.number("Size").value = 3
            #expect(life.tried() == "the state directory belongs to uid 12345")
            chown(home.file("state"), geteuid(), getegid())
        }
        chmod(home.file("state"), 0o700)
        time.advance(by: .seconds(30))
        #expect(life.isSavedInTheEnd())
    }

    @Test("a sticky directory will do, and a link that leads to a good one")
    func sticky() throws {
        chmod(home.file("state"), 0o1777)
        symlink(home.file("state"), home.file("link"))
        let life = StoredLife(home.file("link"))
        try life.number("Size").value = 2
        #expect(life.tried() == nil)
    }

    @Test("a directory that cannot be made")
    func file() throws {
        try home.write("a file", to: "file")
        let life = StoredLife(home.file("file/state"), time: time)
        try life.number("Size").value = 2
        #expect(life.tried() == "Not a directory (making the directory)")
        try FileManager.default.removeItem(atPath: home.file("file"))
        time.advance(by: .seconds(1))
        #expect(life.isSavedInTheEnd())
    }

    @Test("no place at all: everything works, unsaved, and says so once")
    func nowhere() throws {
        let events = Mutex<[OverrideStore.Event]>([])
        let store = OverrideStore(directory: .failure(.init("HOME is not set")), program: "test") { event in
            events.withLock { $0.append(event) }
        }
        let registry = TweakRegistry()
        store.open(registry)
        try registry.register("A", "B", "C", 1).value = 2
        #expect(store.status.answer(for: 1) == .unsaved("HOME is not set"))
        store.close()
        #expect(events.withLock { $0 } == [.unusable(reason: "overrides are not saved: HOME is not set")])
    }

    @Test("what a file that was found late counts up to is not what is saved of this run")
    func lateRevision() throws {
        try home.write(
            #"{"format": "tweaks-overrides", "version": 1, "program": "test", "revision": 500, "overrides": []}"#,
            to: "state/overrides.json")
        chmod(home.file("state"), 0o770)
        let life = StoredLife(home.file("state"), isRequired: true, time: time)
        #expect(try life.propose(["Size": 2]) == "others can write in the state directory")
        chmod(home.file("state"), 0o700)
        time.advance(by: .seconds(30))
        #expect(life.isSavedInTheEnd())
        #expect(life.store.status.answer(for: 1) == .pending)
    }
}
