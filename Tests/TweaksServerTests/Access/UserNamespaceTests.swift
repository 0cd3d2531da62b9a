// Tests which users of a user namespace can be distinguished, and that all others are refused.

import Testing
import Tweaks

@testable import TweaksServer

struct UserNamespaceTests {
    private func namespace(_ map: String, overflow: String = "65534\n") -> UserNamespace {
        UserNamespace(users: .init(map: map, overflow: overflow), groups: .init(map: map, overflow: overflow))
    }

    private func peer(_ user: UInt32, group: UInt32 = 100) -> Platform.PeerUser {
        Platform.PeerUser(user: user, group: group, process: 1)
    }

    /// (map, number of all unmapped users, user, whether it is known)
    @Test(
        arguments: [
            ("         0          0 4294967295\n", "65534\n", 65_534, true), ("", "65534\n", 65_534, true),
            ("0 100000 65536\n", "65534\n", 65_534, false), ("0 100000 65536\n", "65534\n", 1_000, true),
            ("0 100000 65536\n", "65534\n", 70_000, false), ("0 100000 65536\n", "3000\n", 3_000, false),
            ("0 100000 65536\n", "3000\n", 65_534, true), ("0 0 1\n1000 1000 1\n", "65534\n", 1_000, true),
            ("0 0 1\n1000 1000 1\n", "65534\n", 1_001, false), ("65534 0 1\n", "65534\n", 65_534, false),
            ("65534 0 1\n", "65534\n", 0, false),
        ] as [(String, String, UInt32, Bool)])
    func mappedUsersAreKnown(_ map: String, _ overflow: String, _ user: UInt32, _ isKnown: Bool) {
        #expect(namespace(map, overflow: overflow).known(peer(user)) == (isKnown ? peer(user) : nil))
    }

    /// Even if access names that number, and if it is the process's own.
    @Test func theNumberOfUnmappedUsersHasNoRights() {
        let access = TweakAccess(users: [65_534: [.admin], 1_000: [.read]], groups: [65_534: [.admin], 27: [.run]])
        let inside = namespace("0 100000 65536\n")
        #expect(access.scopes(of: peer(65_534), in: inside) { [65_534] } == nil)
        #expect(access.scopes(of: peer(1_000, group: 65_534), in: inside) { [65_534] } == [.read])
        #expect(access.scopes(of: peer(1_000), in: inside) { [65_534, 27] } == [.read, .run])
        #expect(access.scopes(of: peer(65_534), in: namespace("0 0 4294967295\n")) { [] } == [.admin])
    }

    @Test func warningsNameUsersThatCannotBeDistinguished() throws {
        let access = TweakAccess(users: [1_000: [.read], 70_001: [.read], 70_000: [.read]], groups: [65_534: [.run]])
        #expect(namespace("0 0 4294967295\n").warnings(userID: 65_534, access).isEmpty)
        let warnings = namespace("0 100000 65536\n").warnings(userID: 65_534, access)
        try #require(warnings.count == 3)
        #expect(warnings[0].contains("its own user is refused on the Unix socket"))
        #expect(warnings[1].hasPrefix("uid 70000, uid 70001 cannot be told apart"))
        #expect(warnings[2].hasPrefix("gid 65534 cannot be told apart"))
    }
}
