// A server whose disk does what a test says, when it says so.

import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// A storage that writes nothing and says what a test has it say.
final class GatedStore: TweakStore {
    private struct State {
        var status = SaveStatus(saved: 0, tried: 0)
        var observers: [Int: @Sendable (SaveStatus) -> Void] = [:]
        var proposals: [@Sendable (String?) -> Void] = []
        var withdrawn = 0
        var count = 0
    }

    private let state = Mutex(State())
    let isRequired: Bool
    let journal = OverrideJournal {}

    init(isRequired: Bool) { self.isRequired = isRequired }

    var status: SaveStatus { state.withLock { $0.status } }
    /// How many proposals wait.
    var proposals: Int { state.withLock { $0.proposals.count } }
    /// How many paths were taken back.
    var withdrawn: Int { state.withLock { $0.withdrawn } }

    func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation {
        let number = state.withLock { state in
            state.count += 1
            state.observers[state.count] = body
            return state.count
        }
        return StoreObservation { [weak self] in _ = self?.state.withLock { $0.observers.removeValue(forKey: number) } }
    }

    func propose(_ changes: [OverrideKey: StoredEntry?], then body: @escaping @Sendable (String?) -> Void) {
        state.withLock { $0.proposals.append(body) }
    }

    func withdraw(_ keys: [OverrideKey]) { state.withLock { $0.withdrawn += keys.count } }

    /// Everything up to a revision was tried, well or badly.
    func finish(_ revision: UInt64, failure: String? = nil) {
        let (status, observers) = state.withLock { state in
            if failure == nil { state.status.saved = revision }
            (state.status.tried, state.status.failure) = (revision, failure)
            return (state.status, Array(state.observers.values))
        }
        for observer in observers { observer(status) }
    }

    /// Answers the proposals that wait.
    func answerProposals(_ failure: String? = nil) {
        let waiting = state.withLock { state in
            defer { state.proposals = [] }
            return state.proposals
        }
        for body in waiting { body(failure) }
    }
}

/// A server on a Unix socket with such a disk.
final class GatedServer {
    let registry: TweakRegistry
    let store: GatedStore
    let server: TweakServer
    private let directory: TemporaryDirectory

    init(isRequired: Bool = false, hooks: TweakServerHooks = TweakServerHooks()) throws {
        registry = ExampleTweaks().registry
        store = GatedStore(isRequired: isRequired)
        directory = try TemporaryDirectory()
        registry.attach(store, store.journal, overrides: [], revision: 0)
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
            limits: TweakServerLimits(), hooks: hooks)
        try server.start()
    }

    deinit { server.stop() }

    func connect() throws -> TestClient { try TestClient(unix: directory.file("socket"), owner: self) }

    /// Waits until the server has committed so much, as another session sees it; what was asked for before that has been
    /// begun by then.
    func waitForRevision(_ revision: UInt64, _ other: TestClient) throws {
        while try !other.ask("stats").contains("  rev: \(revision)") {}
    }

    /// Waits until so many changes wait to be written.
    func waitForProposals(_ count: Int, _ other: TestClient) throws {
        while store.proposals < count { try other.ask("ping") }
    }
}
