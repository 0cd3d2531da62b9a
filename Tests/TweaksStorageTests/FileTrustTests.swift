// Tests which files are trusted, by their owner, their mode, and the directories on their path.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct FileTrustTests {
    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        for name in ["way", "way/deep", "elsewhere"] { try home.makeFolder(name, mode: 0o755) }
        for name in ["way/deep/a.conf", "elsewhere/b.conf"] {
            try home.write("", to: name)
            chmod(home.file(name), 0o644)
        }
    }

    private func objection(_ name: String) -> String? {
        FileTrust.objection(to: home.file(name))?.replacing(home.path, with: "")
    }

    @Test(
        arguments: [
            ("way/deep/a.conf", mode_t(0o644), nil), ("way/deep/a.conf", 0o444, nil),
            ("way/deep/a.conf", 0o664, "others can write /way/deep/a.conf (mode 664); chmod go-w it"),
            ("way/deep/a.conf", 0o646, "others can write /way/deep/a.conf (mode 646); chmod go-w it"),
            ("way/deep", 0o775, "others can write /way/deep (mode 775); chmod go-w it"),
            ("way/deep", 0o777, "others can write /way/deep (mode 777); chmod go-w it"), ("way/deep", 0o1777, nil),
            ("way", 0o722, "others can write /way (mode 722); chmod go-w it"), ("way", 0o1733, nil),
            ("elsewhere", 0o777, nil),
        ] as [(String, mode_t, String?)])
    func theFileAndTheDirectoriesOnItsPathMustNotBeWritableByOthers(name: String, mode: mode_t, expected: String?) {
        chmod(home.file(name), mode)
        #expect(objection("way/deep/a.conf") == expected)
    }

    @Test func linksAreFollowedAndTheDirectoriesOnBothSidesAreChecked() {
        symlink("../../elsewhere/b.conf", home.file("way/deep/link.conf"))
        symlink(home.file("way"), home.file("shortcut"))
        #expect(objection("shortcut/deep/link.conf") == nil)
        chmod(home.file("elsewhere"), 0o777)
        #expect(objection("shortcut/deep/link.conf") == "others can write /elsewhere (mode 777); chmod go-w it")
        chmod(home.file("elsewhere"), 0o755)
        // Users who can write here can change the link.
        chmod(home.file("way/deep"), 0o777)
        #expect(objection("shortcut/deep/link.conf") == "others can write /way/deep (mode 777); chmod go-w it")
    }

    @Test func aMissingFileIsTrustedLikeItsDirectoriesAndAReadOnlyMountLikeItsMountPoint() {
        #expect(objection("way/none.conf") == nil)
        chmod(home.file("way"), 0o777)
        #expect(objection("way/none.conf") != nil)
        #if os(Linux)
            #expect(FileTrust.objection(to: "/proc/self/status") == nil)
        #endif
    }

    @Test(arguments: [0, 12_345]) func onlyRootMayLetAGroupIntoADirectoryFurtherUp(owner: uid_t) throws {
        guard geteuid() == 0 || owner == 0 else { try Test.cancel("only root can give a directory away") }
        // Another user of the directory, unlike root, is not trusted.
        lchown(home.file("way"), owner, 12_345)
        chmod(home.file("way"), 0o775)
        #expect((objection("way/deep/a.conf") == nil) == (geteuid() == 0 && owner == 0))
        chmod(home.file("way"), 0o777)
        #expect(objection("way/deep/a.conf") != nil)
    }

    /// It may have been created between the checks of the path and of the file.
    @Test(.enabled(if: geteuid() == 0)) func aConfigFileOfAnotherUserIsNotReadWhenStrict() throws {
        let (path, content) = (home.file("a.conf"), FileContent.bytes(Array("A/B/C = 1\n".utf8)))
        try home.write("A/B/C = 1\n", to: "a.conf")
        #expect(FileContent(path: path, isStrict: true) == content)
        chown(path, 1, 1)
        #expect(FileContent(path: path) == content)
        let refusal = FileContent.unreadable("it belongs to uid 1; chown it to root or to uid 0")
        #expect(FileContent(path: path, isStrict: true) == refusal)
    }

    @Test(
        .enabled(if: geteuid() == 0),
        arguments: [
            ("way/deep/a.conf", "way/deep/a.conf"), ("way", "way/deep/a.conf"), ("way/link", "way/link/a.conf"),
        ])
    func filesDirectoriesAndLinksOfOtherUsersAreNotTrusted(owned: String, name: String) {
        symlink("deep", home.file("way/link"))
        lchown(home.file(owned), 12_345, 0)
        #expect(objection(name)?.hasPrefix("/\(owned) belongs to uid 12345") == true)
    }
}
