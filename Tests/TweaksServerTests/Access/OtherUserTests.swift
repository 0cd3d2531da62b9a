// Other users on a Unix socket, with a real `nc`: named ones, members of named groups, and everybody else.

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

    /// A server in a directory that lets everybody in.
    private final class Open {
        let directory: TemporaryDirectory
        let events = SessionEvents()
        let registry = ExampleTweaks().registry
        private let server: TweakServer

        init(_ access: TweakAccess) throws {
            directory = try TemporaryDirectory()
            chmod(directory.path, 0o755)
            let events = events
            server = TweakServer(
                name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
                access: access, onSession: { events.add($0) })
            try server.start()
        }

        deinit { server.stop() }

        var mode: Int? {
            let facts = try? FileManager.default.attributesOfItem(atPath: directory.file("socket"))
            return facts?[.posixPermissions] as? Int
        }

        /// What another user is answered.
        func ask(_ input: String, group: UInt32 = OtherUserTests.user, groups: UInt32...) throws -> [String] {
            let list =
                groups.isEmpty ? ["--clear-groups"] : ["--groups", groups.map { "\($0)" }.joined(separator: ",")]
            let output = try Tool.setpriv.run(
                ["--reuid=\(OtherUserTests.user)", "--regid=\(group)"] + list + [
                    Tool.nc.path, "-N", "-U", directory.file("socket"),
                ], input: input)
            return output.splitLines().dropLast()
        }
    }

    /// Nobody else gets as far as a connection where nobody else is named.
    @Test func withoutNamesTheFileIsClosed() throws {
        let server = try Open(TweakAccess())
        #expect(server.mode == 0o600)
        #expect(try server.ask("get *\n").isEmpty)
        #expect(server.events.all.isEmpty)
    }

    @Test func aNamedUser() throws {
        let server = try Open(TweakAccess(users: [Self.user: ["write:Content"]]))
        #expect(server.mode == 0o666)
        let lines = try server.ask("Content/Text/Size = 72\nrun Player/Audio/Mute\nwhoami\n")
        #expect(lines.contains("ok rev 1"))
        #expect(lines.contains { $0.hasPrefix("error denied this needs run, and this session may write:Content") })
        #expect(lines.contains("  identity: uid \(Self.user)") && lines.contains("  scopes: write:Content"))
        #expect(server.registry["Content/Text/Size"]?.value == .number(72))
        #expect(server.events.all.map(\.session.userID) == Array(repeating: Self.user, count: server.events.all.count))
    }

    @Test func aNamedGroup() throws {
        let server = try Open(TweakAccess(groups: [Self.group: [.read], 54_322: [.run]]))
        #expect(try server.ask("whoami\n", group: Self.group).contains("  scopes: read"))
        #expect(try server.ask("whoami\n", groups: 1, Self.group).contains("  scopes: read"))
        let both = try server.ask("whoami\n", group: 54_322, groups: 7, 8, 9, Self.group)
        #expect(both.contains("  scopes: read") && both.contains("  scopes: run"))
        #expect(try server.ask("whoami\n", group: 7, groups: 8, 9).first?.hasPrefix("error denied ") == true)
        #expect(try server.ask("Content/Text/Size = 72\n", group: Self.group)[0].hasPrefix("error denied "))
        #expect(server.registry.revision == 0)
    }

    /// Whatever it says, nothing is done for it, and it is told once.
    @Test(arguments: ["get *\n", "Content/Text/Size = 72\n", "auth twk_x\n", "\n", "quit\n", "x"])
    func anotherUser(_ input: String) throws {
        let server = try Open(TweakAccess(users: [1: [.admin]]))
        let lines = try server.ask(input + input)
        #expect(
            lines == ["error denied uid \(Self.user) is not the user of this process (uid 0); ask them or root"])
        #expect(server.registry.revision == 0)
        #expect(server.events.all.map(\.text) == ["state created", "state opening", "state failed denied"])
    }

    /// A user without rights is let in to show a token.
    @Test func aNamedUserWithoutRights() throws {
        let server = try Open(TweakAccess(users: [Self.user: []]))
        let lines = try server.ask("get *\nwhoami\n")
        #expect(lines[0].hasPrefix("error denied ") && lines.contains("  scopes: none"))
    }

    @Test func theOwnUserKeepsEverything() throws {
        let server = try Open(TweakAccess(users: [0: [.read]], groups: [0: [.read]]))
        let client = try TestClient(unix: server.directory.file("socket"), owner: server)
        #expect(try client.whoami("scopes") == ["admin"])
    }
}
