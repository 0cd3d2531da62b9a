// Every way in which people and deployments change a file, on real files, by events alone and by looking alone.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport

/// A change of a file from old to new.
struct FileChange: CustomTestStringConvertible, Sendable {
    let name: String
    var path = "app.conf"
    var before = "echo old > app.conf"
    let change: String

    var testDescription: String { name }

    /// Whether this machine has the tools.
    var isPossible: Bool {
        if change.hasPrefix("vim") { return Shell.has("vim") }
        #if os(Linux)
            return true
        #else
            return !["mv -T", "touch -d", "sed -i"].contains { (before + change).contains($0) }
        #endif
    }

    static let possible = (saves + links + directories + times).filter(\.isPossible)

    static let saves = [
        FileChange(name: "truncated and written in place", change: "echo new > app.conf"),
        FileChange(name: "written beside, renamed over", change: "echo new > .app.swp; mv .app.swp app.conf"),
        FileChange(
            name: "vim's way: old one away, new one written, backup removed",
            change: "mv app.conf app.conf~; echo new > app.conf; rm app.conf~"),
        FileChange(
            name: "vim, a new file", change: "vim -u NONE -es -c 'set backupcopy=no' -c '%s/old/new/' -c wq app.conf"),
        FileChange(
            name: "vim, in place", change: "vim -u NONE -es -c 'set backupcopy=yes' -c '%s/old/new/' -c wq app.conf"),
        FileChange(name: "sed -i", change: "sed -i s/old/new/ app.conf"),
        FileChange(name: "moved in", change: "mkdir in; echo new > in/app.conf; mv in/app.conf ."),
        FileChange(name: "deleted and made again", change: "rm app.conf; echo new > app.conf"),
        FileChange(name: "appears later", before: "", change: "echo new > app.conf"),
        FileChange(
            name: "through its other name", before: "echo old > app.conf; ln app.conf other",
            change: "echo new > other"),
        FileChange(name: "was a directory", before: "mkdir app.conf", change: "rmdir app.conf; echo new > app.conf"),
    ]

    static let links = [
        FileChange(
            name: "mv -T of a link", before: "echo old > a; echo new > b; ln -s a app.conf",
            change: "ln -s b next; mv -T next app.conf"),
        FileChange(
            name: "ln -sfn", before: "echo old > a; echo new > b; ln -s a app.conf", change: "ln -sfn b app.conf"),
        FileChange(
            name: "ln -sfn of its directory", path: "now/app.conf",
            before: "mkdir a b; echo old > a/app.conf; echo new > b/app.conf; ln -s a now", change: "ln -sfn b now"),
        FileChange(name: "Kubernetes", before: kubernetes, change: kubernetesSwap),
        FileChange(
            name: "Kubernetes, through one more link", path: "etc/app.conf",
            before: "mkdir etc mount; ln -s ../mount/app.conf etc/app.conf; cd mount; \(kubernetes)",
            change: "cd mount; \(kubernetesSwap)"),
        FileChange(
            name: "at the end of an absolute link",
            before: "mkdir far; echo old > far/real.conf; ln -s \"$PWD/far/real.conf\" app.conf",
            change: "echo new > far/next; mv far/next far/real.conf"),
        FileChange(
            name: "at the end of a link to nothing", before: "ln -s far/off/app.conf app.conf",
            change: "mkdir -p far/off; echo new > far/off/app.conf"),
        FileChange(
            name: "was a link to itself", before: "ln -s app.conf app.conf", change: "rm app.conf; echo new > app.conf"),
        FileChange(
            name: "link becomes file", before: "echo old > a; ln -s a app.conf", change: "echo new > b; mv b app.conf"),
        FileChange(
            name: "file becomes link", change: "echo new > a; ln -sf a app.conf"),
    ]

    private static let kubernetes =
        "mkdir ..2026_1; echo old > ..2026_1/app.conf; ln -s ..2026_1 ..data; ln -s ..data/app.conf app.conf"
    private static let kubernetesSwap = """
        mkdir ..2026_2; echo new > ..2026_2/app.conf; ln -s ..2026_2 ..data_tmp; mv -T ..data_tmp ..data
        rm -r ..2026_1
        """

    static let directories = [
        FileChange(
            name: "directory replaced", path: "d/app.conf", before: "mkdir d; echo old > d/app.conf",
            change: "mv d away; mkdir d; echo new > d/app.conf"),
        FileChange(
            name: "directory replaced by a ready one", path: "d/app.conf",
            before: "mkdir d e; echo old > d/app.conf; echo new > e/app.conf", change: "mv d away; mv e d"),
        FileChange(
            name: "directory deleted and made again", path: "d/app.conf", before: "mkdir d; echo old > d/app.conf",
            change: "rm -r d; mkdir d; echo new > d/app.conf"),
        FileChange(
            name: "directory above replaced", path: "c/d/e/app.conf",
            before: "mkdir -p c/d/e; echo old > c/d/e/app.conf",
            change: "mv c away; mkdir -p c/d/e; echo new > c/d/e/app.conf"),
        FileChange(
            name: "directory becomes a link", path: "d/app.conf", before: "mkdir d; echo old > d/app.conf",
            change: "mv d away; ln -s away d; echo new > d/app.conf"),
        FileChange(
            name: "directories appear later", path: "c/d/app.conf", before: "",
            change: "mkdir -p c/d; echo new > c/d/app.conf"),
        FileChange(
            name: "directories appear later, one by one and complete", path: "c/d/e/app.conf", before: "mkdir c",
            change: "mkdir -p new/e; echo new > new/e/app.conf; mv new c/d"),
        FileChange(
            name: "file becomes directory", path: "c/app.conf", before: "echo old > c",
            change: "rm c; mkdir c; echo new > c/app.conf"),
    ]

    static let times = [
        FileChange(
            name: "same size, same time", before: "echo old > app.conf; touch -d @1700000000 app.conf",
            change: "echo new > app.conf; touch -d @1700000000 app.conf"),
        FileChange(
            name: "cp -p",
            before: "echo old > app.conf; echo new > other; touch -d @1700000000 app.conf other",
            change: "cp -p other app.conf"),
        FileChange(
            name: "an older one", before: "echo old > app.conf; echo new > other; touch -d @1700000000 other",
            change: "mv other app.conf"),
    ]
}

@Suite(.blocking) struct FileWatcherTests {
    /// The watcher is told of the change, and of the one after it, for which it must have followed the first.
    @Test(arguments: FileChange.possible, Way.available) func notices(_ change: FileChange, _ way: Way) throws {
        let file = try WatchedFile(change.path, after: change.before, by: way)
        try file.run(change.change)
        try file.wait(for: "new\n")
        try file.run("echo last > \(change.path)")
        try file.wait(for: "last\n")
        #expect(file.troubles.isEmpty)
    }

    @Test(arguments: Way.available) func saysWhenTheFileHasGone(_ way: Way) throws {
        let file = try WatchedFile(by: way)
        try file.run("rm app.conf")
        try file.wait(for: nil)
        try file.run("echo new > app.conf")
        try file.wait(for: "new\n")
    }

    /// Nobody tells when the other name is in another directory, so looking has to find it.
    @Test func noticesThroughAnotherNameFarAway() throws {
        let file = try WatchedFile(after: "mkdir d; echo old > app.conf; ln app.conf d/other", by: .polling)
        try file.run("echo new > d/other")
        try file.wait(for: "new\n")
        #expect(file.calls.last?.reason == .poll)
    }

    @Test(arguments: Way.available) func aRelativePath(_ way: Way) throws {
        let file = try WatchedFile("./d/../app.conf", after: "mkdir d; echo old > app.conf", by: way)
        try file.run("echo new > app.conf")
        try file.wait(for: "new\n")
    }

    /// Neither a log that somebody writes nor files that come and go beside it are news.
    @Test(arguments: Way.available) func aBusyNeighbourIsNoNews(_ way: Way) throws {
        let file = try WatchedFile(by: way)
        try file.run("for i in $(seq 500); do echo line >> log; echo $i > f$i; mv f$i g$i; rm g$i; done")
        try file.replace("new\n")
        try file.wait(for: "new\n")
        #expect(file.contents == ["new\n"])
    }

    /// Reading must not look like a change, or each look would cause the next.
    @Test(arguments: Way.available) func readingIsNoNews(_ way: Way) throws {
        let file = try WatchedFile(by: way)
        try file.run("for i in 1 2 3; do cat app.conf > /dev/null; ls -l > /dev/null; done")
        try file.replace("new\n")
        try file.wait(for: "new\n")
        #expect(file.contents == ["new\n"])
    }

    /// `start` returns when it watches: the very next change counts.
    @Test(arguments: Way.available) func watchesFromTheStart(_ way: Way) throws {
        for _ in 0..<20 {
            let file = try WatchedFile(after: "", by: way)
            try file.replace("new\n")
            try file.wait(for: "new\n")
        }
    }
}
