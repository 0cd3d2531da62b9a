// Tests every limit by its name: the request that exceeds it, the reply, and its count in `stats`.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// A limit, and requests that exceed it once.
struct LimitCase: Sendable, CustomTestStringConvertible {
    let limit: TweakLimit
    /// Lowers the limit.
    let change: @Sendable (inout TweakServerLimits) -> Void
    /// The beginning of the line that reports it.
    let refusal: String
    /// Exceeds it and returns the last line of the reply.
    let exceed: @Sendable (TestServer) throws -> String

    init(
        _ limit: TweakLimit, _ refusal: String, _ change: @escaping @Sendable (inout TweakServerLimits) -> Void,
        _ exceed: @escaping @Sendable (TestServer) throws -> String
    ) {
        (self.limit, self.refusal, self.change, self.exceed) = (limit, refusal, change, exceed)
    }

    var testDescription: String { limit.rawValue }

    /// Sends lines with a new client.
    private static func ask(_ lines: String...) -> @Sendable (TestServer) throws -> String {
        { try $0.connect().exchange(lines.map { $0 + "\n" }.joined()).last ?? "" }
    }

    static let all = [
        LimitCase(.lineBytes, "error too-long a line holds at most 8", { $0.lineBytes = 8 }, ask("123456789")),
        LimitCase(
            .batchChanges, "error too-many a batch holds at most 1", { $0.batchChanges = 1 },
            ask("begin", "Content/Text/Size = 70", "Content/Text/Size = 71")),
        LimitCase(
            .watchPatterns, "error too-many a session watches at most 1", { $0.watchPatterns = 1 },
            ask("watch Content Player")),
        LimitCase(
            .watchPatterns, "error too-many at most 1 patterns", { $0.watchPatterns = 1 }, ask("get Content Player")),
        LimitCase(.findWords, "error too-many find takes at most 1", { $0.findWords = 1 }, ask("find a b")),
        LimitCase(
            .actionArguments, "error too-many Player/Audio/Mute: an action takes at most 2",
            { $0.actionArguments = 2 }, ask("run Player/Audio/Mute 1 2 3")),
        LimitCase(.actionOutputBytes, "ok", { $0.actionOutputBytes = 3 }, ask("run Player/Audio/Mute")),
        LimitCase(.unsentBytes, "ok", { $0.unsentBytes = 10_000 }) { server in
            let client = try server.connect()
            // More than the socket buffers hold.
            let line = "get *" + String(repeating: " ", count: 100) + "\n"
            let sent = client.sendMeanwhile(String(repeating: line, count: 4_000))
            let other = try server.connect()
            try eventually { try other.hasHit("unsentBytes") }
            for _ in 0..<4_000 { _ = try client.reply() }
            sent.waitBlocking()
            return "ok"
        },
        LimitCase(.history, "ok", { _ in }) { server in
            server.registry.historyLimit = 1
            for value in [70, 71] { try server.connect().ask("Content/Text/Size = \(value)") }
            return "ok"
        },
    ]
}

@Suite(.blocking) struct LimitTableTests {
    @Test(arguments: LimitCase.all) func anExceededLimitIsReportedAndCounted(_ example: LimitCase) throws {
        let server = try TestServer(limiting: example.change)
        let before = server.registry.revision
        #expect(try example.exceed(server).hasPrefix(example.refusal))
        if example.limit != .history { #expect(server.registry.revision == before) }
        let limits = try server.connect().limitsHit()
        #expect(limits.contains { $0.hasPrefix("\(example.limit.rawValue) ") }, "\(limits)")
    }

    /// A new limit needs a row of the table, or a test elsewhere and its name in this set.
    @Test func everyLimitIsTested() {
        let elsewhere: Set<TweakLimit> = [
            .descriptors, .presets, .presetBytes, .unauthenticatedSessions, .unauthenticatedLineBytes,
            .timeToAuthenticate, .authenticationFailures, .scopes, .scopeRequests, .commitsPerSecond,
            .abandonedRequests, .pendingRequestsPerPeer, .presetsPerPeer, .memoryBytes, .sessions, .sessionsPerPeer,
            .timeToFirstLine, .idleTime, .audit,
        ]
        #expect(Set(LimitCase.all.map(\.limit)).union(elsewhere) == Set(TweakLimit.allCases))
        #expect(elsewhere.isDisjoint(with: LimitCase.all.map(\.limit)))
    }

    // MARK: Output of actions

    /// (output, limit, the part that is shown; nil: all of it)
    @Test(
        arguments: [
            ("short", 5, nil), ("longer", 5, "longe"), ("ééé", 5, "éé"), ("aé", 1, "a"), ("é", 1, ""),
            ("👨‍👩‍👧‍👦!", 24, ""), ("a👨‍👩‍👧‍👦!", 25, "a"), ("a👨‍👩‍👧‍👦!", 26, "a👨‍👩‍👧‍👦"), ("", 0, nil), ("x", 0, ""),
            ("one\r\ntwo", 4, "one"), ("one\r\ntwo", 5, "one\r\n"),
        ] as [(String, Int, String?)])
    func theOutputOfAnActionIsCutBetweenCharacters(_ text: String, _ limit: Int, _ shown: String?) throws {
        let registry = ExampleTweaks().registry
        tweakAction("A", "B", "Act", registry: registry) { _ in text }
        let client = try TestServer(registry: registry) { $0.actionOutputBytes = limit }.connect()
        let plain = try client.ask("run A/B/Act")
        let remark = "  … cut: these are \(shown?.utf8.count ?? 0) of \(text.utf8.count) bytes"
        #expect(plain.contains(remark) == (shown != nil))
        #expect(plain.last == "ok")
        _ = try client.json("json")
        let json = try client.json("run A/B/Act")
        #expect(json.contains(#""cutFromBytes":\#(text.utf8.count)"#) == (shown != nil))
        #expect(json.contains(#""output":\#(Quoting.json(shown ?? text))"#))
    }

    /// Thousands of marks on one letter are one character, which would exceed any limit.
    @Test func aCharacterThatIsTooLongIsCut() throws {
        let registry = ExampleTweaks().registry
        tweakAction("A", "B", "Act", registry: registry) { _ in "a" + String(repeating: "\u{301}", count: 50_000) }
        tweakAction("A", "B", "Fail", registry: registry) { _ in
            throw TweakError(.actionFailed, String(repeating: "é", count: 50_000))
        }
        let client = try TestServer(registry: registry) { $0.actionOutputBytes = 10_001 }.connect()
        let lines = try client.ask("run A/B/Act")
        #expect(lines.count == 3 && lines[0].utf8.count == 2 + 10_001)
        #expect(try client.status("run A/B/Fail").utf8.count == "error action-failed ".utf8.count + 10_000)
    }
}
