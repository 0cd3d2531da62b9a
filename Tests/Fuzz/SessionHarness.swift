// Runs a stepped server with two sessions, and checks what each may see and change.

import Synchronization
import Tweaks
import TweaksServer
import TweaksWire

/// One run of the session target.
final class SessionHarness {
    private static let path = SocketPath().path
    // The fuzzer has one thread; tests replay one input after the other.
    nonisolated(unsafe) private static let socket = try? SteppedServer.Socket(socketPath: path)

    private let role: GuestRole
    private let samples = Samples()
    private let server: SteppedServer
    private let guest: RawClient
    private let owner: RawClient
    private let runs = Counter()

    init(_ role: GuestRole) throws(Finding) {
        self.role = role
        let registry = samples.registry
        _ = Tweak("Vault", "Door", "Code", "sesame", help: "vault help", registry: registry)
        do {
            guard let socket = Self.socket else { throw Finding("\(Self.path) cannot be opened") }
            server = try SteppedServer(
                at: socket, registry: registry, limits: Self.limits, hooks: Self.hooks)
            guest = try RawClient(Self.path)
            try Self.accept(server, count: 1)
            server.limitNewest(to: role.scopes)
            owner = try RawClient(Self.path)
            try Self.accept(server, count: 2)
            server.limitNewest(to: [.admin])
        } catch {
            throw Finding("\(error)")
        }
        tweakAction("Player", "Audio", "Mute", registry: registry) { [runs] arguments in
            runs.count()
            if arguments.count > 3 { throw ActionFailure() }
            return arguments.joined(separator: "\n")
        }
        Samples.declareAction(registry) { [runs] arguments in
            runs.count()
            return Array(arguments).joined(separator: "\n")
        }
    }

    private struct ActionFailure: Error {}

    /// Counts the runs of the action.
    private final class Counter: Sendable {
        private let number = Mutex(0)

        var value: Int { number.withLock { $0 } }
        func count() { number.withLock { $0 += 1 } }
    }

    private static var limits: TweakServerLimits {
        var limits = TweakServerLimits()
        // The delay after a wrong token is tested elsewhere.
        limits.authenticationDelay = .zero ... .zero
        return limits
    }

    private static var hooks: TweakServerHooks {
        var hooks = TweakServerHooks()
        hooks.presets = ListedPresets()
        hooks.reload = { dry, then in then(.ok(dry ? "dry" : "reloaded")) }
        return hooks
    }

    private static func accept(_ server: SteppedServer, count: Int) throws(Finding) {
        for _ in 0..<10 where server.sessionCount < count { server.turn(timeout: 1_000) }
        try expect(server.sessionCount == count, "a connection was not accepted")
    }

    // MARK: Sending

    /// Sends bytes as the guest and checks that it was permitted to make the resulting changes.
    func sendAsGuest(_ bytes: ArraySlice<UInt8>) throws(Finding) {
        let before = values()
        let runsBefore = runs.value
        guest.send(bytes)
        try settle()
        for (node, (old, new)) in zip(nodes, zip(before, values())) where old != new {
            try expect(role.mayChange(node.path), "the guest has changed \(node.path) from \(old) to \(new)")
        }
        try expect(role.runs || runs.value == runsBefore, "the guest has run an action")
    }

    func sendAsOwner(_ bytes: ArraySlice<UInt8>) throws(Finding) {
        owner.send(bytes)
        try settle()
    }

    private var nodes: [TweakNode] { samples.registry.listing().nodes }

    /// The overrides of each tweak, layer by layer; the clock stands still, so that none expires.
    private func values() -> [[String]] {
        nodes.map { node in
            let layers = samples.registry[node.path]?.layers ?? []
            return layers.filter { $0.layer > .configFile }.map { "\($0.layer) \($0.value.text)" }
        }
    }

    /// Runs turns of the server until all work is done.
    private func settle() throws(Finding) {
        server.turn(timeout: 0)
        var turns = 0
        while server.isBusy || guest.hasUnread || owner.hasUnread {
            server.turn(timeout: server.isBusy ? 100 : 0)
            try receive()
            turns += 1
            try expect(turns < 10_000, "the server hangs")
        }
        try receive()
    }

    private func receive() throws(Finding) {
        guest.receive()
        owner.receive()
    }

    // MARK: The end

    /// Ends both sessions and checks their replies.
    func end() throws(Finding) {
        guest.endInput()
        owner.endInput()
        var turns = 0
        while !guest.hasEnded || !owner.hasEnded {
            server.turn(timeout: 100)
            try receive()
            turns += 1
            try expect(turns < 1_000, "a session does not end")
        }
        let mayBeKicked = String(decoding: guest.sent + owner.sent, as: UTF8.self).contains("kick")
        for client in [guest, owner] {
            try ReplyChecker(sent: client.sent, received: client.received, mayBeKicked: mayBeKicked).check()
        }
        try checkVisibility()
    }

    /// Checks that a guest who may not see the vault receives only those words of it that it has sent.
    private func checkVisibility() throws(Finding) {
        if role.seesVault { return }
        let (sent, received) = (Self.lines(of: guest.sent), String(decoding: guest.received, as: UTF8.self))
        for word in ["vault", "sesame"] where !sent.lowercased().contains(word) {
            try expect(!received.lowercased().contains(word), "the guest has seen the vault: \(received)")
        }
    }

    /// A client's lines without telnet commands, which may occur within a word.
    private static func lines(of bytes: [UInt8]) -> String {
        var reader = LineReader(limit: .max)
        _ = (bytes + [UInt8(ascii: "\n")]).withUnsafeBufferPointer { reader.append($0) }
        var text = ""
        while case .line(let line)? = reader.next() {
            text += reader.withBytes(of: line) { String(decoding: $0, as: UTF8.self) } + "\n"
        }
        return text
    }
}

/// A preset store with fixed content.
final class ListedPresets: PresetStore {
    func list() throws(TweakError) -> [PresetSummary] { [PresetSummary(name: try PresetName("warm"))] }
    func names() -> [String] { ["warm"] }

    func read(_ name: PresetName) throws(TweakError) -> Preset {
        guard name.text == "warm" else { throw TweakError(.badValue, "there is no preset \(name)") }
        let lines = [("Sample/Free/int", "7"), ("Sample/Bound/number", "0.7"), ("Vault/Door/Code", "open")]
        let entries = lines.enumerated().map { number, line in
            ConfigEntry(path: line.0, text: line.1, line: number + 1, origin: .code)
        }
        return Preset(heading: PresetHeading(), entries: entries, problems: [])
    }

    func write(
        _ draft: PresetDraft, as name: PresetName, mayReplace: Bool
    ) throws(TweakError) -> PresetSummary? { nil }
    func delete(_ name: PresetName) throws(TweakError) {}
}
