// Tests every command with every scope: it is allowed, denied, or its tweak is invisible.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import TweaksServer

@Suite(.blocking) struct CommandTableTests {
    /// The scopes of a session. The lines below concern tweaks of Label.
    private static let columns = [
        "", "read", "read:Label", "read:Theme", "write", "write:Label", "write:Theme", "run", "run:Label",
        "run:Theme", "admin", "admin:Label", "admin:Theme", "read write:Theme", "read run:Theme",
    ]

    /// A line, what the administrator sends before it, and a letter for each column: (A)llowed, (D)enied, (I)nvisible.
    struct Row: Sendable, CustomTestStringConvertible {
        let line: String
        var before: [String] = []
        let letters: String

        init(_ line: String, after before: String..., is letters: String) {
            (self.line, self.before, self.letters) = (line, before, letters.filter { $0 != " " })
        }

        var command: String { String(line.prefix { $0 != " " }) }
        var testDescription: String { line }
    }

    private static let always = "A AAA AAA AAA AAA AA"
    private static let anyScope = "D AAA AAA AAA AAA AA"
    private static let seeing = "D AAI AAI III AAI AA"
    private static let seeingActions = "D AAI AAI AAI AAI AA"
    private static let writing = "D DDD AAI DDD AAI DD"
    private static let writingAnything = "D DDD AAA DDD AAA AD"
    private static let running = "D DDD DDD AAI AAI DD"
    private static let administering = "D DDD DDD DDD ADD DD"

    private static let rows = [
        Row("help", is: always), Row("help set", is: always), Row("hello 1", is: always), Row("ping", is: always),
        Row("json off", is: always), Row("prompt off", is: always), Row("quit", is: always), Row("unwatch", is: always),
        Row("abort", is: always), Row("stats", is: anyScope), Row("presets", is: anyScope),
        Row("ls", is: seeingActions), Row("ls Label", is: seeingActions), Row("ls Label/Text", is: seeingActions),
        Row("get Label/Text/Size", is: seeing), Row("get **/Size", is: seeing), Row("get *", is: seeingActions),
        Row("get Label/Text/Size Label/Text/Go", is: seeing), Row("get Label/Text/Go", is: seeingActions),
        Row("get Label", is: seeingActions),
        Row("describe Label/Text/Size", is: seeing), Row("describe Label/Text/Go", is: seeingActions),
        Row("explain Label/Text/Size", is: seeing), Row("find size", is: seeing), Row("find go", is: seeingActions),
        Row("modified", is: seeing), Row("modified --stale", after: "Label/Text/Size = 60", is: seeing),
        Row("modified Label/Text/Size", is: seeing),
        Row("export", is: seeing), Row("export Label/Text/Size", is: seeing),
        Row("complete \"get Lab\"", is: seeingActions), Row("complete \"set Label/Text/\"", is: seeing),
        Row("complete \"set Label/Text/Side \"", is: seeing),
        Row("watch Label/Text/Size", is: seeing), Row("watch modified", is: seeing),
        Row("watch *", is: seeingActions), Row("history", is: seeing), Row("diff look", is: seeing),
        Row("samples Label/Text/Load", is: seeing), Row("samples Label/Text/Load 1800", is: seeing),
        Row("diff look other", is: seeing),
        Row("set Label/Text/Size 5", is: writing), Row("set Label/Text/Size 5 for 1h", is: writing),
        Row("check Label/Text/Size 5", is: writing),
        Row("reset Label/Text/Size", is: writing), Row("reset Label", is: writing), Row("reset **/Size", is: writing),
        Row("keep Label/Text/Size", after: "set Label/Text/Size 9 for 1h", is: writing),
        Row("keep Label", after: "set Label/Text/Size 9 for 1h", is: writing),
        Row("undo", is: writing), Row("redo", after: "undo", is: writing),
        Row("undo force", is: "D DDD DDD DDD AAI DD"), Row("redo force", after: "undo", is: "D DDD DDD DDD AAI DD"),
        Row("begin", is: writingAnything), Row("commit", is: writingAnything),
        Row("drag on", is: writingAnything), Row("drag off", is: writingAnything),
        Row("preview Label/Text/Size", after: "set Label/Text/Size 9", is: writing),
        Row("preview off", is: writingAnything),
        Row("save NEW Label/Text/Size", is: "D DDD AAI DDD AAI AD"), Row("save look", is: "D DDD ADD DDD ADD DD"),
        Row("load look", is: writing), Row("load look partly", is: "D DDD AAI DDD AAI AD"),
        Row("load --only look", is: writing), Row("swap look", is: "D DDD ADD DDD ADD DD"),
        Row("run Label/Text/Go", is: running), Row("run Label/Text/Size", is: "D DDD DDD III AAI DA"),
        Row("conflicts", is: administering), Row("reload", is: administering),
        Row("delete look", after: "save look", is: administering),
    ]

    /// Commands whose execution other suites test; only their permission is tested here.
    private static let permissionsOnly = [
        Row("auth twk_0", is: always), Row("as Ada", is: always), Row("whoami", is: always),
        Row("drop write", is: always), Row("request write", is: always), Row("panel", is: administering),
        Row("sessions", is: administering), Row("kick 7", is: administering),
    ]

    private static func registry() throws -> TweakRegistry {
        let registry = TweakRegistry()
        _ = Tweak("Label", "Text", "Size", 60.0, in: 0...1_000_000, registry: registry)
        _ = Tweak("Label", "Text", "Side", "Label-left", choices: ["Label-left", "right"], registry: registry)
        _ = Tweak("Label", "Text", "Load", 0.5, flags: .readOnly, registry: registry)
        tweakAction("Label", "Text", "Go", registry: registry) { _ in "Label went" }
        _ = Tweak("Theme", "Main", "Dark", false, registry: registry)
        tweakAction("Theme", "Main", "Flash", registry: registry) { _ in "flashed" }
        return registry
    }

    @Test func theTableHasEveryCommand() {
        let rows = Self.rows + Self.permissionsOnly
        #expect(Set(rows.map(\.command)) == Set(Command.all.map(\.name)))
        #expect(rows.allSatisfy { $0.letters.count == Self.columns.count })
    }

    /// Help and completion use the permission of a command without further keywords.
    @Test func theExampleOfACommandRequiresItsPermission() throws {
        for command in Command.all {
            #expect(try Self.request(command.example).permission == command.permission, "\(command.name)")
        }
    }

    private static func request(_ line: String) throws -> Request {
        guard case .request(let request) = Array(line.utf8).withUnsafeBufferPointer({ ParsedLine($0) }) else {
            throw ClientError.ended(line)
        }
        return request
    }

    @Test(arguments: permissionsOnly) func scopesMeetThePermission(_ row: Row) throws {
        let permission = try Self.request(row.line).permission
        for (column, letter) in zip(Self.columns, row.letters) {
            let rights = try Rights(ScopedServer.scopes(column))
            #expect(rights.meets(permission) == (letter == "A"), "\(row.line) with \(column)")
        }
    }

    @Test(arguments: rows) func theReplyDependsOnTheScopes(_ row: Row) throws {
        let server = try ScopedServer(
            registry: Self.registry(), presets: ["look": ["Label/Text/Size = 5"], "other": ["Label/Text/Size = 6"]])
        let admin = try server.connect(scopes: "admin")
        var size = 100
        func ask(_ client: TestClient) throws -> [String] {
            size += 1
            for line in ["Label/Text/Size = \(size)"] + row.before { try admin.ask(line) }
            return try client.ask(row.line.replacing("NEW", with: "new\(size)"))
        }
        let concernsLabel = try ask(server.connect(scopes: "admin")).joined().contains("Label")
        for (column, letter) in zip(Self.columns, row.letters) {
            let reply = try ask(server.connect(scopes: column))
            #expect(Self.outcome(reply, concernsLabel) == String(letter), "\(row.line) with \(column): \(reply)")
        }
    }

    private static func outcome(_ reply: [String], _ concernsLabel: Bool) -> String {
        let status = reply.last ?? ""
        if status.hasPrefix("error denied") { return "D" }
        if status.hasPrefix("error unknown-tweak") { return "I" }
        return concernsLabel && !reply.joined().contains("Label") ? "I" : "A"
    }
}
