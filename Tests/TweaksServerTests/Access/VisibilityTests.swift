// Tests that invisible tweaks have no visible effect: a server that has them and one that has not reply the same.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// Two servers that differ only in tweaks that a session may not see.
private final class ServerPair {
    static let scopes = "write:Label read:Theme run:Cache"

    private let with: (admin: TestClient, session: TestClient)
    private let without: (admin: TestClient, session: TestClient)
    /// All lines that the session received from the server with hidden tweaks.
    private(set) var received: [String] = []
    private let clock = ManualClock()

    init() throws {
        with = try Self.start(hiding: true, clock)
        without = try Self.start(hiding: false, clock)
        for line in [
            "Secret/Vault/Code = 7", "Labels/Text/Size = 5", "Cache/Maintenance/Size = 2",
            "set Secret/Vault/Sizes 4 for 1h",
        ] { try change(line, isHidden: true) }
        for line in ["Label/Text/Size = 70", "Theme/Main/Depth = 4", "set Label/Text/Side right for 1h"] {
            try change(line)
        }
    }

    /// Separates changes in time, so that the history does not merge them.
    func pass() { clock.advance(by: .seconds(1)) }

    private static func start(hiding: Bool, _ clock: ManualClock) throws -> (admin: TestClient, session: TestClient) {
        let presets = [
            "look": ["Label/Text/Size = 72", "Label/Text/Old = 3", "Theme/Main/Depth = 2"],
            "own": ["Label/Text/Size = 72", "Label/Text/Nobody = 1"], "odd": ["Label/Text/Size = 5000"],
        ]
        let hidden = [
            "look": ["Secret/Vault/Code = 1", "Nobody/Ever/Had = 2"], "own": ["Secret/Vault/Code = 7", "no path = 3"],
            "odd": ["Secret/Vault/Code = 8", "Secret/Vault/Code = 9"],
        ]
        let all = presets.map { name, lines in (name, (hiding ? hidden[name] ?? [] : []) + lines) }
        let server = try ScopedServer(
            registry: try registry(hiding: hiding, clock), presets: Dictionary(uniqueKeysWithValues: all),
            clock: clock)
        return (try server.connect(scopes: "admin"), try server.connect(scopes: scopes))
    }

    private static func registry(hiding: Bool, _ clock: ManualClock) throws -> TweakRegistry {
        let registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
        if hiding { hide(in: registry, "Before") }
        _ = Tweak("Label", "Text", "Size", 60.0, in: 0...1_000, help: "a vault of letters", registry: registry)
        if hiding { hide(in: registry, "Amid") }
        _ = Tweak("Label", "Text", "Side", "left", choices: ["left", "right"], registry: registry)
        _ = Tweak("Label", "Text", "Count", 3, formerly: "Label/Text/Old", registry: registry)
        _ = Tweak("Label", "Text", "Key", "", flags: .secret, registry: registry)
        _ = Tweak("Theme", "Main", "Depth", 1, registry: registry)
        _ = Tweak("Theme", "Main", "Dark", false, registry: registry)
        tweakAction("Cache", "Maintenance", "Purge", registry: registry) { _ in "purged" }
        if hiding { hide(in: registry, "After") }
        return registry
    }

    /// Adds tweaks with names close to others and between others, and one that has a former name.
    private static func hide(in registry: TweakRegistry, _ name: String) {
        _ = Tweak("Secret", "Vault", name, 1, registry: registry)
        if name == "Before" {
            _ = Tweak("Labels", "Text", "Size", 1.0, registry: registry)
            _ = Tweak("Secret", "Vault", "Code", 1, formerly: "Label/Text/Moved", registry: registry)
            _ = Tweak("Secret", "Vault", "Sizes", 1.0, help: "size of everything", registry: registry)
            tweakAction("Secret", "Vault", "Purge", registry: registry) { _ in "gone" }
        } else if name == "Amid" {
            tweakAction("Label2", "Text", "Go", registry: registry) { _ in "went" }
            _ = Tweak("Cache", "Maintenance", "Size", 4, registry: registry)
            _ = Tweak("Cache", "Maintenance", "Puree", 4, registry: registry)
        }
    }

    /// Sends a line as the administrator.
    /// - Parameter isHidden: Only to the server with hidden tweaks.
    func change(_ line: String, isHidden: Bool = false) throws {
        let answer = try with.admin.ask(line)
        #expect(answer.last?.hasPrefix("ok") == true, "\(line): \(answer)")
        if !isHidden { try without.admin.ask(line) }
    }

    /// Sends a line as the session, and expects the same lines from both servers, events included.
    func ask(_ line: String, at location: SourceLocation = #_sourceLocation) throws {
        // Events of the session's own changes may follow the first pong.
        let left = try Self.lines(with.session, line) + Self.lines(with.session, "")
        let right = try Self.lines(without.session, line) + Self.lines(without.session, "")
        received += left
        #expect(left == right, "\(line)", sourceLocation: location)
    }

    private static func lines(_ client: TestClient, _ line: String) throws -> [String] {
        try client.send("\(line)\nping\n")
        var lines: [String] = []
        while true {
            let next = try client.line()
            if next == "ok pong" || next.contains(#""pong":true"#) { return lines }
            lines.append(normalized(next))
        }
    }

    /// A line without revisions, which every change raises, and without what differs from start to start.
    private static func normalized(_ line: String) -> String {
        var line = line
        line.replace(/(rev|event|revision|undid|redid|saved at) \d+/) { "\($0.output.1) N" }
        line.replace(/"(rev|pid|uptimeSeconds|undid|redid|undoes|redoes|of)":\d+/) { "\"\($0.output.1)\":N" }
        line.replace(/(pid|uptimeSeconds|rev): \d+/) { "\($0.output.1): N" }
        line.replace(/instance(": ?"|: )[0-9a-f]+/, with: "instance N")
        line.replace(/\d\d\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "TIME")
        line.replace(/[0-9hms.]+ left/, with: "LEFT")
        line.replace(/"timeLeft":"[^"]*"/, with: "LEFT")
        return line
    }
}

@Suite(.blocking) struct VisibilityTests {
    /// Every command, with hidden names and names close to them.
    private static let lines = [
        "help", "hello 1", "stats", "conflicts", "reload", "sessions", "kick 1", "presets", "delete look",
        "ls", "ls Secret", "ls Secret/Vault", "ls Label", "ls Labels", "ls Cache", "ls Cache/Maintenance",
        "get *", "get Secret", "get Secret/Vault/Code", "get Secret/Vault/Cod", "get Secrt", "get Label/Text/Moved",
        "get Labels/Text/Size", "get Labels/Text/Sise", "get Lable/Text/Size", "get **/Size", "get */Vault",
        "get Cache", "get Cache/Maintenance/Size", "get Cache/Maintenance/Puree", "get Code", "get Vault",
        "get Label/Text/Size Secret/Vault/Code", "get Label/Text/Size Labels", "get Label/Text/Old",
        "set Secret/Vault/Code 5", "set Secret/Vault/Code five", "Secret/Vault/Code = 5", "Secret/Vault/Code += 5",
        "set Secret/Vault/Code 5 for 1h", "set Secret/Vault 5", "set Secret 5", "set Label/Text/Moved 1",
        "set Theme/Main/Depth 5", "Theme/Main/Depth = 5", "set Cache/Maintenance/Size 5",
        "set Cache/Maintenance/Purge 5", "check Secret/Vault/Code 5", "check Theme/Main/Depth 5",
        "keep Secret", "keep *", "reset Secret", "reset Secret/Vault/Code", "reset */Vault/Code", "reset Theme",
        "reset Label/Text/Moved", "describe Secret/Vault/Code", "describe Secret", "describe Theme/Main/Depth",
        "explain Secret/Vault/Code", "explain Secret/Vault/Cods", "explain Label/Text/Moved",
        "explain Theme/Main/Depth", "explain Cache/Maintenance/Size", "find size", "find secret", "find vault",
        "find code", "find everything", "find p", "modified", "modified Secret", "modified */Vault", "export",
        "export Secret", "export Secret/Vault/Code", "complete \"get \"", "complete \"get S\"",
        "complete \"get Secret/\"", "complete \"set Secret/Vault/\"", "complete \"get Label\"",
        "complete \"get Labels/\"", "complete \"run \"", "complete \"run Secret/Vault/\"", "complete \"\"",
        "complete \"set Secret/Vault/Code \"", "complete \"get Cache/Maintenance/\"", "complete \"load \"",
        "complete \"delete \"", "run Secret/Vault/Purge", "run Secret/Vault/Code", "run Cache/Maintenance/Purge",
        "run Cache/Maintenance/Size", "run Label2/Text/Go", "run Label/Text/Size", "run Purge",
        "watch Secret", "watch Secret/Vault/Code", "watch * modified", "watch modified", "unwatch Secret", "unwatch",
        "watch */Vault since 0", "watch * since 0", "unwatch", "begin", "set Secret/Vault/Code 4",
        "set Label/Text/Size 4", "commit", "begin", "set Theme/Main/Depth 4", "abort", "begin", "reset *", "commit",
        "samples Secret/Vault/Code", "samples Label/Text/Size 60",
        "preview Secret", "preview Secret/Vault/Code", "preview */Vault", "preview *", "preview Theme",
        "preview Label/Text",
        "get *", "explain Label/Text/Size", "preview", "preview off", "begin", "Secret/Vault/Code = 3", "preview",
        "drag on", "drag off", "begin 0", "Label/Text/Size = 9", "commit", "history", "history 2", "undo", "redo",
        "undo force",
        "redo force", "save look", "save mine", "save more Secret", "save theme Theme", "presets", "diff look",
        "diff own", "diff look own", "diff mine", "load look", "load look partly", "load own", "load own partly",
        "load odd", "load --only mine", "load --only look partly", "swap look", "load nothing", "diff nothing",
        "auth twk_0", "prompt off", "json", "get *", "get Secret", "stats", "history", "presets", "load look",
        "diff look", "ls", "ls Secret", "find size", "find code", "explain Theme/Main/Depth", "complete \"get \"",
        "watch *", "unwatch", "json off", "panel", "panel rotate", "panel token", "quit",
    ]

    @Test func noCommandRevealsHiddenTweaks() throws {
        let commands = Set(Self.lines.map { $0.split(separator: " ")[0] }.map { String($0) })
        // These concern the identity of the session only.
        let others: Set<String> = ["as", "whoami", "drop", "request", "ping"]
        #expect(Set(Command.all.map(\.name)).subtracting(others).isSubset(of: commands))

        let pair = try ServerPair()
        try pair.ask("watch *")
        for line in Self.lines.dropLast() {
            try pair.change("Secret/Vault/Code += 1", isHidden: true)
            try pair.ask(line)
        }
        let text = pair.received.joined(separator: "\n")
        for word in ["Before", "Amid", "After", "Nobody/Ever", "Sizes"] { #expect(!text.contains(word)) }
        #expect(text.contains("error denied Theme/Main/Depth: this session may"))
    }

    /// Random changes of all kinds, and random requests.
    @Test(.tags(.quantity), arguments: 0..<UInt64(quantity(12, few: 1)))
    func randomRequestsRevealNoHiddenTweaks(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pair = try ServerPair()
        for number in 11...160 {
            pair.pass()
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: try pair.change(Self.hiddenChange(number, &random), isHidden: true)
            case 3...4: try pair.change(Self.change(number, &random))
            default: try pair.ask(Self.request(number, &random))
            }
        }
    }

    private static func hiddenChange(_ number: Int, _ random: inout SeededGenerator) -> String {
        let all = [
            "Secret/Vault/Code = \(number)", "Secret/Vault/Code += 1", "Labels/Text/Size = \(number)",
            "Cache/Maintenance/Puree = \(number)", "set Secret/Vault/Amid \(number) for 1h", "reset Secret",
            "reset Cache", "reset Labels", "run Secret/Vault/Purge",
        ]
        return all[Int.random(in: all.indices, using: &random)]
    }

    private static func change(_ number: Int, _ random: inout SeededGenerator) -> String {
        let all = [
            "Label/Text/Size = \(number)", "Theme/Main/Depth = \(number)", "set Label/Text/Count \(number) for 1h",
            "reset Label", "Label/Text/Side = right", "Label/Text/Key = \(number)", "reset Theme/Main/Depth",
        ]
        return all[Int.random(in: all.indices, using: &random)]
    }

    private static func request(_ number: Int, _ random: inout SeededGenerator) -> String {
        func any(_ texts: [String]) -> String { texts[Int.random(in: texts.indices, using: &random)] }
        let path = any([
            "Label/Text/Size", "Label/Text/Side", "Label/Text/Count", "Label/Text/Key", "Theme/Main/Depth",
            "Secret/Vault/Code", "Secret/Vault/Cod", "Secret/Vault", "Secret", "Labels/Text/Size", "Labels", "Label",
            "Cache/Maintenance/Size", "Cache/Maintenance/Purge", "Cache/Maintenance/Puree", "Label/Text/Moved",
            "Label/Text/Old", "*", "**/Size", "*/Vault", "Theme", "Label2", "S*", "*/*/Pur?e",
        ])
        let value = any(["\(number)", "left", "x", "true"])
        switch any(["read", "read", "name", "change", "batch", "history", "preset", "whole"]) {
        case "read":
            return any(["get", "ls", "modified", "export", "describe", "explain", "run", "watch"]) + " " + path
        case "name": return any(["find \(path.suffix(4))", "find s", "complete \"get \(path.prefix(9))\"", "unwatch"])
        case "change":
            return any([
                "set \(path) \(value)", "\(path) = \(value)", "set \(path) \(value) for 1h", "reset \(path)",
                "keep \(path)", "check \(path) \(value)", "\(path) += 1",
            ])
        case "batch": return any(["begin", "commit", "abort"])
        case "history": return any(["history", "history 3", "undo", "redo", "undo", "redo"])
        case "preset":
            return any([
                "load look partly", "load own", "load look", "load --only look partly", "diff look", "diff own",
                "save n\(number)", "save s\(number) \(path)", "presets",
            ])
        default: return any(["watch modified", "watch *", "stats", "get *", "modified", "export", "json", "json off"])
        }
    }
}
