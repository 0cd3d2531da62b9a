// Tests other users on a Unix socket, with a real `nc`: named users, members of named groups, and all others.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(
    .blocking, .enabled(if: geteuid() == 0, "run as root"), .enabled(if: Tool.setpriv.exists, "install util-linux"),
    .enabled(if: Tool.nc.exists, "install netcat-openbsd"))
struct OtherUserTests {
    private static let user: UInt32 = 65_534
    private static let group: UInt32 = 54_321

    /// A server in a directory that all users can enter.
    private final class OpenServer {
        let directory: TemporaryDirectory
        let events = SessionEvents()
        let registry = ExampleTweaks().registry
        private let server: TweakServer

        init(_ access: TweakAccess) throws {
            directory = try TemporaryDirectory()
            chmod(directory.path, 0o755)
            server = TweakServer(
                name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
                access: access, onSession: { [events] in events.note($0) })
            try server.start()
        }

        deinit { server.stop() }

        var mode: Int? {
            let attributes = try? FileManager.default.attributesOfItem(atPath: directory.file("socket"))
            return attributes?[.posixPermissions] as? Int
        }

        /// The reply to another user.
        func ask(_ input: String, group: UInt32 = OtherUserTests.user, groups: UInt32...) throws -> [String] {
            let list =
                groups.isEmpty ? ["--clear-groups"] : ["--groups", groups.map { "\($0)" }.joined(separator: ",")]
            let arguments = ["--reuid=\(OtherUserTests.user)", "--regid=\(group)"] + list
            let client = [Tool.nc.path, "-N", "-U", directory.file("socket")]
            return try Tool.setpriv.run(arguments + client, input: input).splitLines().dropLast()
        }
    }

    @Test func withoutNamedUsersTheSocketFileIsPrivate() throws {
        let server = try OpenServer(TweakAccess())
        #expect(server.mode == 0o600)
        #expect(try server.ask("get *\n").isEmpty)
        #expect(server.events.all.isEmpty)
    }

    @Test func aNamedUserHasItsScopes() throws {
        let server = try OpenServer(TweakAccess(users: [Self.user: ["write:Content"]]))
        #expect(server.mode == 0o666)
        let lines = try server.ask("Content/Text/Size = 72\nrun Player/Audio/Mute\nwhoami\n")
        #expect(lines.contains("ok rev 1"))
        #expect(lines.contains { $0.hasPrefix("error denied this needs run, and this session may write:Content") })
        #expect(lines.contains("  identity: uid \(Self.user)") && lines.contains("  scopes: write:Content"))
        #expect(server.registry["Content/Text/Size"]?.value == .number(72))
        #expect(server.events.all.allSatisfy { $0.session.userID == Self.user })
    }

    /// A user without rights can connect and show a token.
    @Test func aNamedUserWithoutScopesCanConnect() throws {
        let lines = try OpenServer(TweakAccess(users: [Self.user: []])).ask("get *\nwhoami\n")
        #expect(lines[0].hasPrefix("error denied ") && lines.contains("  scopes: none"))
    }

    @Test func membersOfNamedGroupsHaveTheirScopes() throws {
        let server = try OpenServer(TweakAccess(groups: [Self.group: [.read], 54_322: [.run]]))
        #expect(try server.ask("whoami\n", group: Self.group).contains("  scopes: read"))
        #expect(try server.ask("whoami\n", groups: 1, Self.group).contains("  scopes: read"))
        let both = try server.ask("whoami\n", group: 54_322, groups: 7, 8, 9, Self.group)
        #expect(both.contains("  scopes: read") && both.contains("  scopes: run"))
        #expect(try server.ask("whoami\n", group: 7, groups: 8, 9).first?.hasPrefix("error denied ") == true)
        #expect(try server.ask("Content/Text/Size = 72\n", group: Self.group)[0].hasPrefix("error denied "))
        #expect(server.registry.revision == 0)
    }

    @Test(arguments: ["get *\n", "Content/Text/Size = 72\n", "auth twk_x\n", "\n", "quit\n", "x"])
    func anyOtherUserIsRefusedOnce(_ input: String) throws {
        let server = try OpenServer(TweakAccess(users: [1: [.admin]]))
        let refusal =
            "error denied uid \(Self.user) is not the user of this process (uid 0); connect as that user or root"
        #expect(try server.ask(input + input) == [refusal])
        #expect(server.registry.revision == 0)
        #expect(server.events.texts == ["state created", "state opening", "state failed denied"])
    }

    @Test func theOwnUserKeepsEveryScope() throws {
        let server = try OpenServer(TweakAccess(users: [0: [.read]], groups: [0: [.read]]))
        let client = try TestClient(unix: server.directory.file("socket"), owner: server)
        #expect(try client.whoami("scopes") == ["admin"])
    }
}
