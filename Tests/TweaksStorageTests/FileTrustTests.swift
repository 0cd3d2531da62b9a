// Tests which files are trusted: by their owner, their mode, and the directories on the way.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite("Files that others could have written", .blocking)
struct FileTrustTests {
    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        for name in ["way", "way/deep", "elsewhere"] {
            try FileManager.default.createDirectory(atPath: home.file(name), withIntermediateDirectories: false)
            chmod(home.file(name), 0o755)
        }
        for name in ["way/deep/a.conf", "elsewhere/b.conf"] {
            try home.write("", to: name)
            chmod(home.file(name), 0o644)
        }
    }

    private func objection(_ name: String) -> String? {
        FileTrust.objection(to: home.file(name))?.replacing(home.path, with: "")
    }

    @Test(
        "modes of the file and of every directory on the way",
        arguments: [
            ("way/deep/a.conf", mode_t(0o644), nil), ("way/deep/a.conf", 0o444, nil),
            ("way/deep/a.conf", 0o664, "others can write /way/deep/a.conf (mode 664); chmod go-w it"),
            ("way/deep/a.conf", 0o646, "others can write /way/deep/a.conf (mode 646); chmod go-w it"),
            ("way/deep", 0o775, "others can write /way/deep (mode 775); chmod go-w it"),
            ("way/deep", 0o777, "others can write /way/deep (mode 777); chmod go-w it"), ("way/deep", 0o1777, nil),
            ("way", 0o722, "others can write /way (mode 722); chmod go-w it"), ("way", 0o1733, nil),
            ("elsewhere", 0o777, nil),
        ] as [(String, mode_t, String?)])
    func modes(name: String, mode: mode_t, expected: String?) {
        chmod(home.file(name), mode)
        #expect(objection("way/deep/a.conf") == expected)
    }

    @Test("links are followed, and the directories on both sides are judged")
    func links() {
        symlink("../../elsewhere/b.conf", home.file("way/deep/link.conf"))
        symlink(home.file("way"), home.file("shortcut"))
        #expect(objection("shortcut/deep/link.conf") == nil)
        chmod(home.file("elsewhere"), 0o777)
        #expect(objection("shortcut/deep/link.conf") == "others can write /elsewhere (mode 777); chmod go-w it")
        chmod(home.file("elsewhere"), 0o755)
        // Who can write here can lead it somewhere else.
        chmod(home.file("way/deep"), 0o777)
        #expect(objection("shortcut/deep/link.conf") == "others can write /way/deep (mode 777); chmod go-w it")
    }

    @Test("a file that is not there yet is as good as its directories, and one mounted read-only as good as its mount")
    func missing() {
        #expect(objection("way/none.conf") == nil)
        chmod(home.file("way"), 0o777)
        #expect(objection("way/none.conf") != nil)
        #if os(Linux)
            #expect(FileTrust.objection(to: "/proc/self/status") == nil)
        #endif
    }

    @Test("a group that root has let into a directory of its own further up is root's affair", arguments: [0, 12_345])
    func groups(owner: uid_t) throws {
        guard geteuid() == 0 || owner == 0 else { try Test.cancel("only root can give a directory away") }
        // With uid 12345 as the process's own it would be the same; here it is another user.
        lchown(home.file("way"), owner, 12_345)
        chmod(home.file("way"), 0o775)
        #expect((objection("way/deep/a.conf") == nil) == (geteuid() == 0 && owner == 0))
        chmod(home.file("way"), 0o777)
        #expect(objection("way/deep/a.conf") != nil)
    }

    /// It may have come between the look at its path and the look at what it holds.
    @Test("a config file that is another user's is not read where that matters", .enabled(if: geteuid() == 0))
    func foreignContent() throws {
        let path = home.file("a.conf")
        try Data("A/B/C = 1\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(FileContent(path: path, isStrict: true) == .bytes(Array("A/B/C = 1\n".utf8)))
        chown(path, 1, 1)
        #expect(FileContent(path: path) == .bytes(Array("A/B/C = 1\n".utf8)))
        #expect(
            FileContent(path: path, isStrict: true)
                == .unreadable("it belongs to uid 1; chown it to root or to uid 0"))
    }

    @Test("somebody else's file, directory or link is theirs", .enabled(if: geteuid() == 0))
    func owners() {
        lchown(home.file("way/deep/a.conf"), 12_345, 12_345)
        #expect(objection("way/deep/a.conf")?.hasPrefix("/way/deep/a.conf belongs to uid 12345") == true)
        lchown(home.file("way/deep/a.conf"), 0, 0)
        lchown(home.file("way"), 12_345, 0)
        #expect(objection("way/deep/a.conf")?.hasPrefix("/way belongs to uid 12345") == true)
        lchown(home.file("way"), 0, 0)
        symlink("deep", home.file("way/link"))
        lchown(home.file("way/link"), 12_345, 0)
        #expect(objection("way/link/a.conf")?.hasPrefix("/way/link belongs to uid 12345") == true)
    }
}
