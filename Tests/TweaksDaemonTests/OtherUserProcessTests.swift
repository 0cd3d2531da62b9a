// Daemons that run as another user than root: in a user namespace, as `PrivateUsers=yes` and rootless containers make one,
// or with a token file that root keeps for them.

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

    /// What a user from outside is answered by a daemon that has this number inside.
    private func answer(toOutsiderBy user: String) throws -> (answer: String, log: [String]) {
        let child = try Child(in: directory.path, through: [Tool.unshare.path, "--user", "--map-user=\(user)"])
        try #require(try child.waitUntilReady(), "\(child.log.all)")
        // Both would be closed by their modes; what is tested is the daemon's own judgment of the user.
        chmod(directory.path, 0o755)
        chmod(directory.file("probe.sock"), 0o666)
        let answer = try Tool.setpriv.run(
            ["--reuid=1000", "--regid=1000", "--clear-groups", Tool.nc.path, "-N", "-U", directory.file("probe.sock")],
            input: "set Probe/Int/T0 1\n")
        return (answer, try log(of: child))
    }

    /// All that it has said until its end: what it says by two ways comes in any order.
    private func log(of child: Child) throws -> [String] {
        try child.stop()
        try child.waitForLine(containing: "(end)")
        return child.log.all
    }

    /// The kernel gives all of them the number that the process has.
    @Test func theOverflowNumberIsNotTheOwner() throws {
        let (answer, log) = try answer(toOutsiderBy: "65534")
        #expect(answer.hasPrefix("error denied "), "\(answer)")
        #expect(log.contains { $0.contains("runs as uid 65534, as which every user from outside its user namespace") })
    }

    /// A service takes the tokens that root keeps for its group, and no other group's.
    @Test(arguments: [(0, 1, true), (0, 2, false), (1, 1, false)])
    func tokensOfItsGroup(_ owner: UInt32, _ group: UInt32, _ isTaken: Bool) throws {
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
        #expect(log.contains { $0.contains("\(tokens): no token is taken") } != isTaken, "\(log)")
    }

    @Test func anotherNumberIsNobodyElses() throws {
        let (answer, log) = try answer(toOutsiderBy: "1000")
        #expect(answer.hasPrefix("error denied "), "\(answer)")
        #expect(!log.contains { $0.contains("user namespace") })
    }
}
