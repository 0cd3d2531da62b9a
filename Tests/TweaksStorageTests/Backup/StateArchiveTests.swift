// Tests the archive of a backup: tar reads it, and nothing else than a backup is accepted.

import Foundation
import Testing
import Tweaks
import TweaksBackup
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct StateArchiveTests {
    private static let time: Int64 = 1_795_253_400_123
    private static let files: [StateFileContent] = [
        (.overrides, Array("{}\n".utf8)), (.history, [UInt8](repeating: 7, count: 512)), (.config, []),
    ]

    private static func bytes(_ files: [StateFileContent] = files) -> [UInt8] {
        StateArchive(program: "bounce", time: time, files: files).bytes
    }

    /// Why bytes are refused; nil if they are accepted.
    private func problem(_ bytes: [UInt8]) -> String? {
        do throws(StateArchive.Problem) {
            _ = try StateArchive(bytes)
            return nil
        } catch {
            return error.text
        }
    }

    @Test func whatWasPackedIsUnpacked() throws {
        let preset = try StateFileContent(.preset(PresetName("warm")), Array("A/B/C = 1\n".utf8))
        let archive = try StateArchive(Self.bytes(Self.files + [preset]))
        #expect(archive.program == "bounce" && archive.time == Self.time)
        let names = ["overrides.json", "history.jsonl", "config.last", "presets/warm.conf"]
        #expect(archive.files.map(\.file.name) == names)
        #expect(archive.files.map(\.bytes) == (Self.files + [preset]).map(\.bytes))
        #expect(try StateArchive(Self.bytes([])).files.isEmpty)
    }

    @Test(.enabled(if: Tool.tar.exists, "install tar")) func tarListsAndExtractsIt() throws {
        let directory = try TemporaryDirectory()
        try Data(Self.bytes()).write(to: URL(fileURLWithPath: directory.file("b.tar")))
        #expect(
            try Tool.tar.run(["tf", directory.file("b.tar")])
                == "backup.json\noverrides.json\nhistory.jsonl\nconfig.last\n")
        let manifest = #"{"format":"tweaks-backup","version":1,"program":"bounce","time":"2026-11-21T09:30:00.123Z"}"#
        #expect(try Tool.tar.run(["xOf", directory.file("b.tar"), "backup.json"]) == manifest + "\n")
        #expect(try Tool.tar.run(["tvf", directory.file("b.tar")]).splitLines()[0].hasPrefix("-rw------- "))
    }

    // MARK: Hostile archives

    /// Writes bytes into the header of the second member, overrides.json, and corrects its checksum.
    private func tampered(at position: Int, _ bytes: [UInt8]) -> [UInt8] {
        var archive = Self.bytes()
        let header = 1_024
        archive.replaceSubrange((header + position)..<(header + position + bytes.count), with: bytes)
        archive.replaceSubrange((header + 148)..<(header + 156), with: [UInt8](repeating: 32, count: 8))
        let sum = archive[header..<(header + 512)].reduce(0) { $0 + Int($1) }
        let digits = String(sum, radix: 8)
        let field = String(repeating: "0", count: 6 - digits.count) + digits + "\u{0} "
        archive.replaceSubrange((header + 148)..<(header + 156), with: Array(field.utf8))
        return archive
    }

    @Test(arguments: [
        ("../overrides.json", "is no file of a state"), ("/etc/passwd", "is no file of a state"),
        ("presets/../x.conf", "is no file of a state"), ("presets/.x.conf", "is no file of a state"),
        ("presets/a/b.conf", "is no file of a state"), ("presets/.conf", "is no file of a state"),
        ("panel.token", "is no file of a state"), ("lock", "is no file of a state"), ("", "is no file of a state"),
        ("./overrides.json", "is no file of a state"), ("history.jsonl", "“history.jsonl” is there twice"),
        ("backup.json", "is no file of a state"), ("\u{1B}[2J", "“\u{FFFD}[2J” is no file of a state"),
    ])
    func otherNamesAreRefused(_ name: String, _ expected: String) throws {
        let field = Array(name.utf8) + [UInt8](repeating: 0, count: 100 - name.utf8.count)
        #expect(try #require(problem(tampered(at: 0, field))).hasSuffix(expected))
    }

    @Test(arguments: [
        ("a hard link", 156, "1", "“overrides.json” is a link"), ("a link", 156, "2", "“overrides.json” is a link"),
        ("a device", 156, "3", "is not a regular file"), ("a folder", 156, "5", "is not a regular file"),
        ("an extended header", 156, "x", "is not a regular file"), ("a long name", 156, "L", "is not a regular file"),
        ("another format", 257, "usxar", "is not in the form"), ("a prefix", 345, "..", "is not in the form"),
        ("a size of letters", 124, "0000000000x", "no valid size"),
        ("no size", 124, String(repeating: "\u{0}", count: 12), "no valid size"),
        ("a huge size", 124, "77777777777", "it is cut short"), ("twelve digits", 124, "777777777777", "no valid size"),
    ])
    func otherMembersAreRefused(_ what: String, _ position: Int, _ field: String, _ expected: String) {
        #expect(problem(tampered(at: position, Array(field.utf8)))?.contains(expected) == true)
    }

    @Test func aSizeInBinaryIsRefused() {
        let field: [UInt8] = [0x80] + [UInt8](repeating: 0, count: 10) + [1]
        #expect(problem(tampered(at: 124, field))?.contains("no valid size") == true)
    }

    @Test func everyCutIsFound() {
        let whole = Self.bytes()
        // The first of the two blocks at the end is enough.
        for count in stride(from: 0, to: whole.count - 1_024, by: 64) {
            #expect(problem(Array(whole.prefix(count))) != nil, "\(count)")
        }
        #expect(problem(whole + [1]) == "something follows its end")
        #expect(problem(whole + [UInt8](repeating: 0, count: 8_192)) == nil)
    }

    /// No other byte of a header can change unnoticed.
    @Test func everyChangedByteOfAHeaderIsFound() {
        for position in 0..<512 where position != 154 && position != 155 {
            var bytes = Self.bytes()
            bytes[1_024 + position] ^= 1
            #expect(problem(bytes) != nil, "\(position)")
        }
    }

    @Test(arguments: [
        (#"{"format":"tweaks-backup","version":2,"other":"fields"}"#, "newer version (format 2"),
        (#"{"format":"tweaks-backup","version":0}"#, "is not that of a backup"),
        (#"{"format":"other","version":1}"#, "is not that of a backup"),
        (#"{"format":"tweaks-backup","version":1,"program":"x","time":"today"}"#, "names no program or no time"),
        (#"{"format":"tweaks-backup","version":1,"time":"2026-11-21T09:30:00Z"}"#, "names no program or no time"),
        ("not JSON", "is not that of a backup"),
    ])
    func anotherManifestIsRefused(_ text: String, _ expected: String) {
        // Its size is in its header: the text is filled up with spaces.
        let own = Self.bytes()[512...].prefix { $0 != 0 }.count
        let padded = Array(text.utf8) + [UInt8](repeating: 32, count: max(0, own - text.utf8.count))
        var bytes = Self.bytes()
        bytes.replaceSubrange(512..<(512 + own), with: padded)
        #expect(problem(bytes)?.contains(expected) == true, "\(problem(bytes) ?? "")")
    }
}
