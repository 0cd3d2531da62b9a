// Tests that a folder opens, replaces and locks files, and reports problems without blocking.

import Foundation
import Testing
import TweaksSystem
import TweaksTestSupport

@Suite struct FolderTests {
    private let home: TemporaryDirectory
    private let folder: Folder

    init() throws {
        home = try TemporaryDirectory()
        folder = try Folder(home.path)
    }

    private func make(_ name: String, _ text: String = "text", mode: mode_t = 0o600) throws {
        try text.write(toFile: home.file(name), atomically: false, encoding: .utf8)
        try #require(chmod(home.file(name), mode) == 0)
    }

    private func problem(_ body: () throws(FileProblem) -> Void) -> FileProblem? {
        do throws(FileProblem) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    private func names() throws -> [String] { try folder.names().filter { ![".", ".."].contains($0) }.sorted() }

    private func content(_ name: String) throws -> String? {
        try folder.content(of: name, limit: 9).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    // MARK: Reading

    @Test(arguments: [
        ("missing", nil), ("plain", nil), ("link", "it is a symbolic link; name the file itself"),
        ("directory", "it is not a regular file; name one"), ("fifo", "it is not a regular file; name one"),
        ("socket", "it is not a regular file; name one"), ("large", "it has more than 10 bytes; name another one"),
        ("another's", "it belongs to uid 65534; chown it to 0"),
        ("shared", "others can read or write it (mode 640); chmod 600 /file"),
    ])
    func onlyPrivateRegularFilesAreRead(_ kind: String, _ objection: String?) throws {
        let path = home.file("file")
        var socket: BoundSocket?
        switch kind {
        case "missing": break
        case "link":
            try make("real")
            try #require(symlink(home.file("real"), path) == 0)
        case "directory": try #require(mkdir(path, 0o700) == 0)
        case "fifo": try #require(mkfifo(path, 0o600) == 0)
        case "socket": socket = try BoundSocket(path, for: .clients)
        case "large": try make("file", "0123456789+")
        case "another's":
            try make("file")
            if geteuid() != 0 { return }
            try #require(chown(path, 65_534, 65_534) == 0)
        case "shared": try make("file", mode: 0o640)
        default: try make("file", "0123456789")
        }
        var content: [UInt8]?
        let problem = problem { () throws(FileProblem) in
            content = try folder.content(of: "file", limit: 10, FileRules(forbidden: 0o077))?.bytes
        }
        withExtendedLifetime(socket) {}
        #expect(problem?.description.replacing(home.path, with: "") == objection.map { "/file: \($0)" })
        #expect(problem?.operation == objection.map { _ in "reading file" })
        #expect(content == (kind == "plain" ? Array("0123456789".utf8) : nil))
    }

    @Test func linksAreFollowedOnRequest() throws {
        try make("real")
        try #require(symlink("real", home.file("link")) == 0)
        let file = try Folder.anywhere.open(home.file("link"), for: .readingThroughLinks)
        #expect(try file.content(limit: 4) == Array("text".utf8))
        #expect(problem { () throws(FileProblem) in _ = try folder.open("link", for: .reading) }?.fault == .kind(.link))
    }

    /// The pipe has no other end, so a blocking call would never return.
    @Test(arguments: [FilePurpose.appending, .locking, .reading])
    func pipesAreNotWaitedFor(_ purpose: FilePurpose) throws {
        try #require(mkfifo(home.file("fifo"), 0o600) == 0)
        #expect(problem { () throws(FileProblem) in _ = try folder.open("fifo", for: purpose) }?.fault == .kind(.other))
    }

    // MARK: Directories

    @Test(arguments: [(0o700, true), (0o755, true), (0o1777, true), (0o770, false), (0o777, false)])
    func aDirectoryMustNotBeWritableByOthersUnlessSticky(_ mode: mode_t, _ isValid: Bool) throws {
        try #require(chmod(home.path, mode) == 0)
        let problem = problem { () throws(FileProblem) in try folder.validate() }
        #expect(problem?.fault == (isValid ? nil : .mode(UInt32(mode))))
    }

    @Test func missingDirectoriesAreCreatedOnRequest() throws {
        #expect(problem { () throws(FileProblem) in _ = try Folder(home.file("a/b")) }?.isMissing == true)
        let made = try Folder(home.file("a/b"), creates: true)
        #expect(try made.validate().mode == 0o700)
        #expect(problem { () throws(FileProblem) in _ = try made.folder("c") }?.isMissing == true)
        _ = try made.folder("c", creates: true)
        try #require(symlink("c", home.file("a/b/link")) == 0)
        #expect(problem { () throws(FileProblem) in _ = try made.folder("link") }?.fault == .kind(.link))
    }

    // MARK: Writing

    @Test func replacingAFileCreatesAnotherPrivateOne() throws {
        try make("file", "old", mode: 0o644)
        let old = try folder.info("file")
        var written: FileInfo?
        try folder.replace("file", with: Array("new".utf8), isWritten: { written = $0 })
        let new = try folder.info("file")
        #expect(try content("file") == "new" && names() == ["file"])
        #expect(new.mode == 0o600 && !new.isSameFile(as: old) && written?.isSameFile(as: new) == true)
    }

    @Test func replacingALinkKeepsItsTarget() throws {
        try make("real", "real")
        try #require(symlink("real", home.file("file")) == 0)
        try Folder.replace(home.file("file"), with: "new")
        #expect(try content("real") == "real" && folder.info("file").kind == .regular)
    }

    @Test func aTemporaryFileIsOverwrittenAndRemovedAfterAFailure() throws {
        try make("left", "half")
        try folder.replace("file", with: [1], temporary: "left")
        #expect(try names() == ["file"])
        try #require(mkdir(home.file("directory"), 0o700) == 0)
        let problem = problem { () throws(FileProblem) in try folder.replace("directory", with: [1]) }
        #expect(problem?.operation == "replacing directory")
        #expect(try names() == ["directory", "file"])
    }

    @Test func appendingKeepsTheContent() throws {
        for text in ["one", "two"] { try folder.open("log", for: .appending).write(Array(text.utf8)) }
        #expect(try content("log") == "onetwo")
    }

    // MARK: Locking

    @Test func aFileIsLockedOnceAndARemovedFileIsAnotherLock() throws {
        let first = try folder.lock("lock")
        let refusal = problem { () throws(FileProblem) in _ = try folder.lock("lock") }
        #expect(refusal?.isLocked == true && refusal?.operation == "locking lock")
        withExtendedLifetime(first) {}
        try folder.remove("lock")
        let second = try folder.lock("lock")
        #expect(!second.info.isSameFile(as: first.info))
        withExtendedLifetime(first) {}
    }

    @Test func closingTheFileUnlocksIt() throws {
        do { _ = try folder.lock("lock") }
        _ = try folder.lock("lock", waits: true)
    }
}
