// The way to a file: which directories count, and when it looks different.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct PathTrailTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func trail(_ name: String, after script: String) throws -> PathTrail {
        try Shell.run(script, in: directory.path)
        return PathTrail(directory.file(name))
    }

    /// Directories whose entries matter, as names below the temporary one.
    private func whole(_ trail: PathTrail) -> Set<String> {
        let place = URL(fileURLWithPath: directory.path).resolvingSymlinksInPath().path
        return Set(
            trail.directories.filter(\.isWhole).map {
                $0.path.hasPrefix(place) ? String($0.path.dropFirst(place.count)) : "outside \($0.path)"
            })
    }

    @Test func aPlainFile() throws {
        let trail = try trail("c/d/app.conf", after: "mkdir -p c/d; echo > c/d/app.conf")
        #expect(whole(trail) == ["/c/d"])
        #expect(trail.entries.map(\.name) == ["app.conf"])
        #expect(trail.directories.map(\.path).first == "/")
        #expect(trail.links.isEmpty && trail.target.mark?.size == 1)
    }

    @Test func kubernetes() throws {
        let trail = try trail(
            "app.conf",
            after: "mkdir ..1; echo > ..1/app.conf; ln -s ..1 ..data; ln -s ..data/app.conf app.conf")
        #expect(whole(trail) == ["", "/..1"])
        #expect(Set(trail.entries.map(\.name)) == ["app.conf", "..data"])
        #expect(trail.links.count == 2)
    }

    @Test func linksInOtherDirectories() throws {
        let trail = try trail(
            "c/app.conf", after: "mkdir c d e; ln -s ../d/x c/app.conf; ln -s \"$PWD/e/../e/./y\" d/x; echo > e/y")
        #expect(whole(trail) == ["/c", "/d", "/e"])
        #expect(Set(trail.entries.map(\.name)) == ["app.conf", "x", "y"])
    }

    @Test(arguments: [("app.conf", ""), ("c/app.conf", ""), ("c/d/app.conf", "/c"), ("f/app.conf", "")])
    func nothingThere(_ name: String, _ nearest: String) throws {
        let trail = try trail(
            name, after: "mkdir -p c; echo > f; test ! -e c/app.conf; rmdir c; [ \(nearest)/ = / ] || mkdir c")
        #expect(whole(trail) == [nearest])
        #expect(trail.target.mark == nil)
    }

    @Test func linksThatNeverEnd() throws {
        let trail = try trail("a", after: "ln -s b a; ln -s a b")
        #expect(trail.target == .missing(ELOOP))
        #expect(whole(trail) == [""])
        #expect(Set(trail.entries.map(\.name)) == ["a", "b"])
    }

    @Test func oddPaths() {
        for path in ["/", "//", "/..", "/.", "/../../tmp/..", "", "/\(String(repeating: "x/", count: 3_000))"] {
            #expect(PathTrail(path).links.isEmpty)
        }
        #expect(PathTrail("/dev/null").target.mark != nil)
    }

    /// Size and time as before, in place: the inode's own time still tells.
    @Test func nothingButTheInodeTimeDiffers() throws {
        let set = "TZ=UTC touch -t 202001010000 app.conf"
        let before = try trail("app.conf", after: "echo old > app.conf; \(set)")
        #expect(!PathTrail(directory.file("app.conf")).differs(from: before))
        try WatchedFile().letTheClockTick()
        let after = try trail("app.conf", after: "echo new > app.conf; \(set)")
        #expect(after.target.mark?.size == before.target.mark?.size)
        #expect(after.target.mark?.modified == before.target.mark?.modified)
        #expect(after.differs(from: before) && after.isSameFile(as: before))
    }

    @Test func anotherFileInItsPlace() throws {
        let before = try trail("app.conf", after: "echo old > app.conf")
        let after = try trail("app.conf", after: "echo old > next; mv next app.conf")
        #expect(after.differs(from: before) && !after.isSameFile(as: before))
    }

    /// Files beside it leave no trace.
    @Test func neighbours() throws {
        let before = try trail("app.conf", after: "echo old > app.conf")
        #expect(try trail("app.conf", after: "echo > other; mkdir d; rm other") == before)
    }
}
