// Where Unix sockets may be, who holds one, and what is done about one that is left over.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct SocketPlaceTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func server(_ path: String) -> TweakServer {
        TweakServer(name: "example", registry: ExampleTweaks().registry, listeners: [.unix(path: path)])
    }

    /// The permissions of a file.
    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    /// Why a server does not start there.
    private func refusal(_ path: String) -> ServerError? {
        let server = server(path)
        do throws(ServerError) {
            try server.start()
            server.stop()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Modes

    @Test func whatIsMadeIsPrivate() throws {
        let path = directory.file("one/two/socket")
        let server = server(path)
        try server.start()
        defer { server.stop() }
        #expect(try mode(path) == 0o600)
        #expect(try mode(path + ".lock") == 0o600)
        #expect(try mode(directory.file("one/two")) == 0o700)
        #expect(try mode(directory.file("one")) == 0o700)
        #expect(server.socketPaths == [path])
    }

    /// (mode of the directory, whether it will do)
    @Test(arguments: [
        (0o700, true), (0o755, true), (0o500, true), (0o1777, true), (0o1770, true), (0o770, false), (0o707, false),
        (0o777, false),
    ])
    func directoriesThatOthersMayWrite(_ mode: Int, _ isFine: Bool) throws {
        // Without write permission only root gets any further.
        if mode == 0o500, geteuid() != 0 { return }
        let place = directory.file("place")
        try #require(mkdir(place, 0o700) == 0 && chmod(place, mode_t(mode)) == 0)
        let error = refusal(place + "/socket")
        #expect((error == nil) == isFine)
        if !isFine { #expect(error?.description.contains("others can write there; chmod 700 it") == true) }
    }

    @Test func aLinkIsNoDirectory() throws {
        let (real, link) = (directory.file("real"), directory.file("link"))
        try #require(mkdir(real, 0o700) == 0 && symlink(real, link) == 0)
        // A link that root made is trusted (macOS has /tmp and /var so); this one is a user's.
        if geteuid() == 0 { try #require(lchown(link, 65_534, 65_534) == 0) }
        #expect(refusal(link + "/socket")?.description.contains("is a symbolic link or no directory") == true)
        #expect(refusal("/dev/null/socket") != nil)
    }

    /// Such a link has all rights on Linux, which are nobody's to use.
    @Test(.enabled(if: geteuid() == 0, "only root's links are followed"), arguments: [(0o755, true), (0o777, false)])
    func aLinkOfRootIsAsGoodAsItsTarget(_ mode: mode_t, _ isFine: Bool) throws {
        let (real, link) = (directory.file("real"), directory.file("link"))
        try #require(mkdir(real, 0o700) == 0 && chmod(real, mode) == 0 && symlink(real, link) == 0)
        #expect((refusal(link + "/socket") == nil) == isFine)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
    func anothersDirectoryIsRefused() throws {
        let place = directory.file("place")
        try #require(mkdir(place, 0o700) == 0 && chown(place, 65_534, 65_534) == 0)
        #expect(refusal(place + "/socket")?.description.contains("others can write there") == true)
    }

    @Test(arguments: ["", "socket", "./socket", "/tmp/" + String(repeating: "x", count: 200)])
    func pathsThatAreNone(_ path: String) {
        #expect(refusal(path)?.description.contains("must be absolute and at most") == true)
    }

    @Test func aLongestPathIsFine() throws {
        let longest = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        let path = directory.path + "/" + String(repeating: "x", count: longest - directory.path.utf8.count - 1)
        let server = server(path)
        try server.start()
        defer { server.stop() }
        #expect(try TestClient(unix: path).ask("ping") == ["ok pong"])
        #expect(refusal(path + "x") != nil)
    }

    // MARK: Who holds it

    @Test func aStaleSocketIsTakenOver() throws {
        let path = directory.file("socket")
        _ = try BoundSocket(path, for: .clients)
        #expect(FileManager.default.fileExists(atPath: path))
        let server = server(path)
        try server.start()
        defer { server.stop() }
        #expect(try TestClient(unix: path).ask("ping") == ["ok pong"])
    }

    @Test func aLiveSocketIsNot() throws {
        let path = directory.file("socket")
        let socket = try BoundSocket(path, for: .clients)
        let error = withExtendedLifetime(socket) { refusal(path) }
        #expect(error?.description == "socket \(path) is answered by another process")
        #expect(error?.isTaken == true)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func theSecondServerIsRefused() throws {
        let path = directory.file("socket")
        let first = server(path)
        try first.start()
        let error = refusal(path)
        #expect(error?.description == "socket \(path) is held by another process")
        #expect(error?.isTaken == true)
        // And has done the first one no harm.
        #expect(try TestClient(unix: path).ask("ping") == ["ok pong"])
        first.stop()
        #expect(refusal(path) == nil)
    }

    /// Somebody who removed the socket file has not set the place free.
    @Test func theLockHoldsWithoutTheFile() throws {
        let path = directory.file("socket")
        let first = server(path)
        try first.start()
        defer { first.stop() }
        try #require(unlink(path) == 0)
        #expect(refusal(path)?.isTaken == true)
    }

    @Test func aFileThatIsNoSocketStays() throws {
        let path = directory.file("socket")
        try "precious".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(refusal(path)?.description == "\(path) is there and no socket; remove it, or name another path")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test func aLinkIsNoSocketAndNoLock() throws {
        let (path, target) = (directory.file("socket"), directory.file("target"))
        try #require(symlink(target, path) == 0)
        #expect(refusal(path)?.description.contains("no socket") == true)
        let other = directory.file("other")
        try #require(symlink(target, other + ".lock") == 0)
        #expect(refusal(other)?.description.hasPrefix("lock \(other).lock: ") == true)
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    // MARK: Who may

    /// The barrier is the peer's uid, even where the file's mode lets everybody in.
    @Test(
        .enabled(if: geteuid() == 0, "only root can become somebody else"),
        .enabled(if: Tool.setpriv.exists, "install util-linux"), .enabled(if: Tool.nc.exists, "install netcat-openbsd"))
    func anotherUserIsDenied() throws {
        let registry = ExampleTweaks().registry
        let server = try TestServer(registry: registry, hasThread: true)
        try #require(chmod(server.directory.path, 0o755) == 0 && chmod(server.path, 0o666) == 0)
        let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", Tool.nc.path, "-N", "-U", server.path]
        for input in ["set Content/Text/Size 72\n", "\n", "pin", String(repeating: "get *\n", count: 1_000)] {
            let output = try Tool.setpriv.run(nobody, input: input)
            #expect(output.hasPrefix("error denied uid 65534 is not the user of this process"))
            #expect(output.splitLines().count == 2)
        }
        #expect(registry.revision == 0)
    }
}
