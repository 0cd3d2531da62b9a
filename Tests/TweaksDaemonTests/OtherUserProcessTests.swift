// Tests daemons of other users than root: in user namespaces (`PrivateUsers=yes`, rootless containers), and with token
// files of root.

import Foundation
import Testing
import TweaksTestSupport

@Suite(
    .blocking, .tags(.process), .enabled(if: Child.exists), .enabled(if: geteuid() == 0, "run as root"),
    .enabled(if: Tool.unshare.exists && Tool.setpriv.exists, "install util-linux"),
    .enabled(if: Tool.nc.exists, "install netcat-openbsd"))
struct OtherUserProcessTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The reply of a daemon with this uid inside a namespace to a user outside.
    private func reply(toOutsiderBy user: String) throws -> (reply: String, log: [String]) {
        let child = try Child(in: directory.path, through: [Tool.unshare.path, "--user", "--map-user=\(user)"])
        try #require(try child.waitUntilReady(), "\(child.log.all)")
        // The modes admit all users, so that the daemon has to refuse this one.
        chmod(directory.path, 0o755)
        chmod(directory.file("probe.sock"), 0o666)
        let reply = try Tool.setpriv.run(
            ["--reuid=1000", "--regid=1000", "--clear-groups", Tool.nc.path, "-N", "-U", directory.file("probe.sock")],
            input: "set Probe/Int/T0 1\n")
        return (reply, try log(of: child))
    }

    /// The whole log, as messages of two threads come in any order.
    private func log(of child: Child) throws -> [String] {
        try child.stop()
        try child.waitForLine(containing: "(end)")
        return child.log.all
    }

    /// The kernel maps all users outside to the uid of the process.
    @Test func outsidersOfAProcessWithTheOverflowUIDAreRefused() throws {
        let (reply, log) = try reply(toOutsiderBy: "65534")
        #expect(reply.hasPrefix("error denied "), "\(reply)")
        #expect(log.contains { $0.contains("runs as uid 65534, as which every user from outside its user namespace") })
    }

    @Test(arguments: [(0, 1, true), (0, 2, false), (1, 1, false)])
    func onlyTokenFilesOfRootForItsGroupAreAccepted(_ owner: UInt32, _ group: UInt32, _ isAccepted: Bool) throws {
        let tokens = directory.file("tokens")
        try Data("ops sha256:\(String(repeating: "ab", count: 32)) admin\n".utf8).write(
            to: URL(fileURLWithPath: tokens))
        chown(tokens, owner, group)
        chmod(tokens, 0o640)
        chown(directory.path, 1, 1)
        let child = try Child(
            in: directory.path, [], ["TWEAKS_TOKEN_FILE": tokens],
            through: [Tool.setpriv.path, "--reuid=1", "--regid=1", "--clear-groups"])
        try #require(try child.waitUntilReady(), "\(child.log.all)")
        let log = try log(of: child)
        #expect(log.contains { $0.contains("\(tokens): no token is accepted") } != isAccepted, "\(log)")
    }

    @Test func outsidersOfAProcessWithAnotherUIDAreRefusedWithoutAWarning() throws {
        let (reply, log) = try reply(toOutsiderBy: "1000")
        #expect(reply.hasPrefix("error denied "), "\(reply)")
        #expect(!log.contains { $0.contains("user namespace") })
    }
}
