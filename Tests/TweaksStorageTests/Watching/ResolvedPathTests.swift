// Tests which directories lead to a file, and which differences are noticed.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct ResolvedPathTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func path(_ name: String, after script: String) throws -> ResolvedPath {
        try Shell.run(script, in: directory.path)
        return ResolvedPath(directory.file(name))
    }

    /// The directories whose entries are watched, relative to the temporary one.
    private func watched(_ path: ResolvedPath) -> Set<String> {
        let root = URL(fileURLWithPath: directory.path).resolvingSymlinksInPath().path
        return Set(
            path.directories.filter(\.watchesEntries).map {
                $0.path.hasPrefix(root) ? String($0.path.dropFirst(root.count)) : "outside \($0.path)"
            })
    }

    @Test func aPlainFileIsWatchedInItsDirectory() throws {
        let path = try path("c/d/app.conf", after: "mkdir -p c/d; echo > c/d/app.conf")
        #expect(watched(path) == ["/c/d"] && path.entries.map(\.name) == ["app.conf"])
        #expect(path.directories.map(\.path).first == "/")
        #expect(path.links.isEmpty && path.target.metadata?.size == 1)
    }

    @Test func theLinksOfKubernetesAreFollowed() throws {
        let script = "mkdir ..1; echo > ..1/app.conf; ln -s ..1 ..data; ln -s ..data/app.conf app.conf"
        let path = try path("app.conf", after: script)
        #expect(watched(path) == ["", "/..1"] && path.links.count == 2)
        #expect(Set(path.entries.map(\.name)) == ["app.conf", "..data"])
    }

    @Test func linksInOtherDirectoriesAreFollowed() throws {
        let path = try path(
            "c/app.conf", after: "mkdir c d e; ln -s ../d/x c/app.conf; ln -s \"$PWD/e/../e/./y\" d/x; echo > e/y")
        #expect(watched(path) == ["/c", "/d", "/e"] && Set(path.entries.map(\.name)) == ["app.conf", "x", "y"])
    }

    @Test(arguments: [("app.conf", ""), ("c/app.conf", ""), ("c/d/app.conf", "/c"), ("f/app.conf", "")])
    func aMissingFileIsWatchedInTheNearestDirectory(_ name: String, _ nearest: String) throws {
        let path = try path(
            name, after: "mkdir -p c; echo > f; test ! -e c/app.conf; rmdir c; [ \(nearest)/ = / ] || mkdir c")
        #expect(watched(path) == [nearest])
        #expect(path.target.metadata == nil)
    }

    @Test func circularLinksAreWatched() throws {
        let path = try path("a", after: "ln -s b a; ln -s a b")
        #expect(path.target == .missing(ELOOP))
        #expect(watched(path) == [""] && Set(path.entries.map(\.name)) == ["a", "b"])
    }

    @Test func unusualPathsAreAccepted() {
        for path in ["/", "//", "/..", "/.", "/../../tmp/..", "", "/\(String(repeating: "x/", count: 3_000))"] {
            #expect(ResolvedPath(path).links.isEmpty)
        }
        #expect(ResolvedPath("/dev/null").target.metadata != nil)
    }

    /// Size and modification time are the same.
    @Test func aDifferenceInTheInodeTimeIsNoticed() throws {
        let script = "TZ=UTC touch -t 202001010000 app.conf"
        let before = try path("app.conf", after: "echo old > app.conf; \(script)")
        #expect(!ResolvedPath(directory.file("app.conf")).differs(from: before))
        try WatchedFile().waitForFileTimeStep()
        let after = try path("app.conf", after: "echo new > app.conf; \(script)")
        #expect(after.target.metadata?.size == before.target.metadata?.size)
        #expect(after.target.metadata?.modified == before.target.metadata?.modified)
        #expect(after.differs(from: before) && after.isSameFile(as: before))
    }

    @Test func aReplacedFileIsNoticed() throws {
        let before = try path("app.conf", after: "echo old > app.conf")
        let after = try path("app.conf", after: "echo old > next; mv next app.conf")
        #expect(after.differs(from: before) && !after.isSameFile(as: before))
    }

    @Test func otherFilesMakeNoDifference() throws {
        let before = try path("app.conf", after: "echo old > app.conf")
        #expect(try path("app.conf", after: "echo > other; mkdir d; rm other") == before)
    }
}
