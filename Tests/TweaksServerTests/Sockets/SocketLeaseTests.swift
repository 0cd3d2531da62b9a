// Tests where Unix sockets may be, which server owns one, and what happens to one that is left over.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct SocketLeaseTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("socket")
    }

    private func server(_ path: String) -> TweakServer {
        TweakServer(name: "example", registry: ExampleTweaks().registry, listeners: [.unix(path: path)])
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    /// The error of a server that starts there; nil if it starts.
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

    /// Makes a directory.
    private func make(_ path: String, mode: mode_t = 0o700) throws {
        try #require(mkdir(path, 0o700) == 0 && chmod(path, mode) == 0)
    }

    // MARK: Directories

    @Test func createdFilesAndDirectoriesArePrivate() throws {
        let path = directory.file("one/two/socket")
        let server = server(path)
        try server.start()
        defer { server.stop() }
        for file in [path, path + ".lock"] { #expect(try mode(file) == 0o600) }
        for name in ["one/two", "one"] { #expect(try mode(directory.file(name)) == 0o700) }
        #expect(server.socketPaths == [path])
    }

    /// (mode of the directory, whether it is accepted)
    @Test(arguments: [
        (0o700, true), (0o755, true), (0o500, true), (0o1777, true), (0o1770, true), (0o770, false), (0o707, false),
        (0o777, false),
    ])
    func aDirectoryThatOthersCanWriteIsRefused(_ mode: mode_t, _ isAccepted: Bool) throws {
        // Without write permission only root can create the socket.
        if mode == 0o500, geteuid() != 0 { return }
        let place = directory.file("place")
        try make(place, mode: mode)
        let error = refusal(place + "/socket")
        #expect((error == nil) == isAccepted)
        if !isAccepted { #expect(error?.description.contains("others can write there; chmod 700 it") == true) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
    func aDirectoryOfAnotherUserIsRefused() throws {
        let place = directory.file("place")
        try make(place)
        try #require(chown(place, 65_534, 65_534) == 0)
        #expect(refusal(place + "/socket")?.description.contains("others can write there") == true)
    }

    @Test func aLinkOfAUserOrAFileIsNoDirectory() throws {
        let (real, link) = (directory.file("real"), directory.file("link"))
        try make(real)
        try #require(symlink(real, link) == 0)
        // A link of root is trusted (on macOS /tmp and /var are such links); this one is a user's.
        if geteuid() == 0 { try #require(lchown(link, 65_534, 65_534) == 0) }
        #expect(refusal(link + "/socket")?.description.contains("is a symbolic link or not a directory") == true)
        #expect(refusal("/dev/null/socket") != nil)
    }

    /// The mode of a link itself, 0777 on Linux, has no meaning.
    @Test(.enabled(if: geteuid() == 0, "only root's links are followed"), arguments: [(0o755, true), (0o777, false)])
    func aLinkOfRootIsAcceptedIfItsTargetIs(_ mode: mode_t, _ isAccepted: Bool) throws {
        let (real, link) = (directory.file("real"), directory.file("link"))
        try make(real, mode: mode)
        try #require(symlink(real, link) == 0)
        #expect((refusal(link + "/socket") == nil) == isAccepted)
    }

    @Test(arguments: ["", "socket", "./socket", "/tmp/" + String(repeating: "x", count: 200)])
    func relativeAndOverlongPathsAreRefused(_ path: String) {
        #expect(refusal(path)?.description.contains("must be absolute and at most") == true)
    }

    @Test func aPathOfMaximumLengthIsAccepted() throws {
        let longest = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        let path = directory.path + "/" + String(repeating: "x", count: longest - directory.path.utf8.count - 1)
        let server = server(path)
        try server.start()
        defer { server.stop() }
        #expect(try TestClient(unix: path).ask("ping") == ["ok pong"])
        #expect(refusal(path + "x") != nil)
    }

    // MARK: Owners

    @Test func aStaleSocketIsReplaced() throws {
        _ = try BoundSocket(path, for: .clients)
        #expect(FileManager.default.fileExists(atPath: path))
        let server = server(path)
        try server.start()
        defer { server.stop() }
        #expect(try TestClient(unix: path).ask("ping") == ["ok pong"])
    }

    @Test func aSocketInUseIsNotReplaced() throws {
        let socket = try BoundSocket(path, for: .clients)
        let error = withExtendedLifetime(socket) { refusal(path) }
        #expect(error?.description == "socket \(path) is in use by another process" && error?.isTaken == true)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// Such as `/dev/log`: connecting a stream socket to it fails, although it is alive.
    @Test(arguments: [BoundSocket.Kind.datagrams, .packets])
    func aSocketOfAnotherTypeIsNotReplaced(_ kind: BoundSocket.Kind) throws {
        let socket = try BoundSocket(path, for: kind)
        let error = withExtendedLifetime(socket) { refusal(path) }
        let text = "socket \(path) is in use by another program, as a socket of another type; name another path in "
        #expect(error?.description.hasPrefix(text) == true)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// Connecting would wait until the other server accepts.
    @Test func aSocketWhoseQueueIsFullIsNotWaitedFor() throws {
        let socket = try BoundSocket(path, for: .clients)
        let clients = try (0..<6).map { _ in try TestClient(unix: path) }
        let error = withExtendedLifetime((socket, clients)) { refusal(path) }
        #expect(error?.description == "socket \(path) is in use by another process" && error?.isTaken == true)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func aSecondServerIsRefusedUntilTheFirstStops() throws {
        let first = server(path)
        try first.start()
        let error = refusal(path)
        let text = "socket \(path) is held by another process; end it, or name another path in TWEAKS_SOCKET"
        #expect(error?.description == text && error?.isTaken == true)
        #expect(try TestClient(unix: path).ask("ping") == ["ok pong"])
        // The lock holds even if the socket file is removed.
        try #require(unlink(path) == 0)
        #expect(refusal(path)?.isTaken == true)
        first.stop()
        #expect(refusal(path) == nil)
    }

    @Test func aFileThatIsNotASocketIsKept() throws {
        try "precious".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(refusal(path)?.description == "\(path) exists and is not a socket; remove it, or name another path")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test func aLinkInPlaceOfTheSocketOrTheLockIsNotFollowed() throws {
        let (target, other) = (directory.file("target"), directory.file("other"))
        try #require(symlink(target, path) == 0)
        #expect(refusal(path)?.description.contains("is not a socket") == true)
        try #require(symlink(target, other + ".lock") == 0)
        #expect(refusal(other)?.description.hasPrefix("lock \(other).lock: ") == true)
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    // MARK: Users

    /// The peer's user decides, even where the mode of the file lets other users connect.
    @Test(
        .enabled(if: geteuid() == 0, "only root can become another user"),
        .enabled(if: Tool.setpriv.exists, "install util-linux"), .enabled(if: Tool.nc.exists, "install netcat-openbsd"))
    func anotherUserIsRefused() throws {
        let server = try TestServer(hasThread: true)
        try #require(chmod(server.directory.path, 0o755) == 0 && chmod(server.path, 0o666) == 0)
        let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", Tool.nc.path, "-N", "-U", server.path]
        for input in ["set Content/Text/Size 72\n", "\n", "pin", String(repeating: "get *\n", count: 1_000)] {
            let output = try Tool.setpriv.run(nobody, input: input)
            #expect(output.hasPrefix("error denied uid 65534 is not the user of this process"))
            #expect(output.splitLines().count == 2)
        }
        #expect(server.registry.revision == 0)
    }
}
