// Tests that every way to change a file is noticed, by events alone and by polling alone.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport

/// A change of a file from old to new.
struct FileChange: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let path: String
    let before: String
    let change: String

    init(_ name: String, path: String = "app.conf", before: String = "echo old > app.conf", _ change: String) {
        (testDescription, self.path, self.before, self.change) = (name, path, before, change)
    }

    /// Whether this machine has the tools.
    var isPossible: Bool {
        if change.hasPrefix("vim") { return Tool.vim.exists }
        #if os(Linux)
            return true
        #else
            return !["mv -T", "touch -d", "sed -i"].contains { (before + change).contains($0) }
        #endif
    }

    static let possible = (saves + links + directories + times).filter(\.isPossible)

    static let saves = [
        FileChange("truncated and written in place", "echo new > app.conf"),
        FileChange("written beside, renamed over", "echo new > .app.swp; mv .app.swp app.conf"),
        FileChange("moved away, written, backup removed", "mv app.conf app.conf~; echo new > app.conf; rm app.conf~"),
        FileChange("vim, a new file", "vim -u NONE -es -c 'set backupcopy=no' -c '%s/old/new/' -c wq app.conf"),
        FileChange("vim, in place", "vim -u NONE -es -c 'set backupcopy=yes' -c '%s/old/new/' -c wq app.conf"),
        FileChange("sed -i", "sed -i s/old/new/ app.conf"),
        FileChange("moved in", "mkdir in; echo new > in/app.conf; mv in/app.conf ."),
        FileChange("deleted and created again", "rm app.conf; echo new > app.conf"),
        FileChange("created later", before: "", "echo new > app.conf"),
        FileChange("through a hard link", before: "echo old > app.conf; ln app.conf other", "echo new > other"),
        FileChange("replaces a directory", before: "mkdir app.conf", "rmdir app.conf; echo new > app.conf"),
        FileChange(
            "path with dots", path: "./d/../app.conf", before: "mkdir d; echo old > app.conf", "echo new > app.conf"),
    ]

    static let links = [
        FileChange(
            "mv -T of a link", before: "echo old > a; echo new > b; ln -s a app.conf",
            "ln -s b next; mv -T next app.conf"),
        FileChange("ln -sfn", before: "echo old > a; echo new > b; ln -s a app.conf", "ln -sfn b app.conf"),
        FileChange(
            "ln -sfn of its directory", path: "now/app.conf",
            before: "mkdir a b; echo old > a/app.conf; echo new > b/app.conf; ln -s a now", "ln -sfn b now"),
        FileChange("Kubernetes", before: kubernetes, kubernetesSwap),
        FileChange(
            "Kubernetes, through another link", path: "etc/app.conf",
            before: "mkdir etc mount; ln -s ../mount/app.conf etc/app.conf; cd mount; \(kubernetes)",
            "cd mount; \(kubernetesSwap)"),
        FileChange(
            "target of an absolute link",
            before: "mkdir far; echo old > far/real.conf; ln -s \"$PWD/far/real.conf\" app.conf",
            "echo new > far/next; mv far/next far/real.conf"),
        FileChange(
            "target of a dangling link", before: "ln -s far/off/app.conf app.conf",
            "mkdir -p far/off; echo new > far/off/app.conf"),
        FileChange("replaces a link to itself", before: "ln -s app.conf app.conf", "rm app.conf; echo new > app.conf"),
        FileChange("replaces a link", before: "echo old > a; ln -s a app.conf", "echo new > b; mv b app.conf"),
        FileChange("replaced by a link", "echo new > a; ln -sf a app.conf"),
    ]

    private static let kubernetes =
        "mkdir ..2026_1; echo old > ..2026_1/app.conf; ln -s ..2026_1 ..data; ln -s ..data/app.conf app.conf"
    private static let kubernetesSwap = """
        mkdir ..2026_2; echo new > ..2026_2/app.conf; ln -s ..2026_2 ..data_tmp; mv -T ..data_tmp ..data
        rm -r ..2026_1
        """

    private static let inDirectory = "mkdir d; echo old > d/app.conf"

    static let directories = [
        FileChange(
            "directory replaced", path: "d/app.conf", before: inDirectory, "mv d away; mkdir d; echo new > d/app.conf"),
        FileChange(
            "directory replaced by a prepared one", path: "d/app.conf",
            before: "mkdir d e; echo old > d/app.conf; echo new > e/app.conf", "mv d away; mv e d"),
        FileChange(
            "directory deleted and created again", path: "d/app.conf", before: inDirectory,
            "rm -r d; mkdir d; echo new > d/app.conf"),
        FileChange(
            "directory above replaced", path: "c/d/e/app.conf", before: "mkdir -p c/d/e; echo old > c/d/e/app.conf",
            "mv c away; mkdir -p c/d/e; echo new > c/d/e/app.conf"),
        FileChange(
            "directory replaced by a link", path: "d/app.conf", before: inDirectory,
            "mv d away; ln -s away d; echo new > d/app.conf"),
        FileChange(
            "directories created later", path: "c/d/app.conf", before: "", "mkdir -p c/d; echo new > c/d/app.conf"),
        FileChange(
            "directories moved in later, complete", path: "c/d/e/app.conf", before: "mkdir c",
            "mkdir -p new/e; echo new > new/e/app.conf; mv new c/d"),
        FileChange(
            "file replaced by a directory", path: "c/app.conf", before: "echo old > c",
            "rm c; mkdir c; echo new > c/app.conf"),
    ]

    static let times = [
        FileChange(
            "same size, same time", before: "echo old > app.conf; touch -d @1700000000 app.conf",
            "echo new > app.conf; touch -d @1700000000 app.conf"),
        FileChange(
            "cp -p", before: "echo old > app.conf; echo new > other; touch -d @1700000000 app.conf other",
            "cp -p other app.conf"),
        FileChange(
            "an older file", before: "echo old > app.conf; echo new > other; touch -d @1700000000 other",
            "mv other app.conf"),
    ]
}

@Suite(.blocking) struct FileWatcherTests {
    /// The second change is only noticed if the watcher has followed the first.
    @Test(arguments: FileChange.possible, DetectionMode.available)
    func everyChangeAndTheNextOneAreNoticed(_ change: FileChange, _ mode: DetectionMode) throws {
        let file = try WatchedFile(change.path, after: change.before, by: mode)
        try file.run(change.change)
        try file.wait(for: "new\n")
        try file.run("echo last > \(change.path)")
        try file.wait(for: "last\n")
        #expect(file.problems.isEmpty)
    }

    @Test(arguments: DetectionMode.available) func aRemovalIsReported(_ mode: DetectionMode) throws {
        let file = try WatchedFile(by: mode)
        try file.run("rm app.conf")
        try file.wait(for: nil)
        try file.run("echo new > app.conf")
        try file.wait(for: "new\n")
    }

    /// A write through a hard link in another directory causes no event.
    @Test func pollingNoticesWritesThroughALinkInAnotherDirectory() throws {
        let file = try WatchedFile(after: "mkdir d; echo old > app.conf; ln app.conf d/other", by: .polling)
        try file.run("echo new > d/other")
        try file.wait(for: "new\n")
        #expect(file.calls.last?.reason == .poll)
    }

    @Test(
        arguments: [
            "for i in $(seq 500); do echo line >> log; echo $i > f$i; mv f$i g$i; rm g$i; done",
            "for i in 1 2 3; do cat app.conf > /dev/null; ls -l > /dev/null; done",
        ], DetectionMode.available)
    func otherFilesAndReadingCauseNoCall(_ script: String, _ mode: DetectionMode) throws {
        let file = try WatchedFile(by: mode)
        try file.run(script)
        try file.replace("new\n")
        try file.wait(for: "new\n")
        #expect(file.contents == ["new\n"])
    }

    @Test(arguments: DetectionMode.available) func theFirstChangeAfterTheStartIsNoticed(_ mode: DetectionMode) throws {
        for _ in 0..<20 {
            let file = try WatchedFile(after: "", by: mode)
            try file.replace("new\n")
            try file.wait(for: "new\n")
        }
    }
}
