// Declares the storage interface that the registry and the server use: what is on disk, and how to wait for it.

import Synchronization

/// The write progress of a storage.
package struct SaveStatus: Sendable, Equatable {
    /// Everything up to this revision is on disk.
    package var saved: UInt64
    /// A write of everything up to this revision was attempted.
    package var attempted: UInt64
    /// Why the last attempt failed; nil when it succeeded.
    package var failure: String?

    package init(saved: UInt64, attempted: UInt64, failure: String? = nil) {
        self.saved = saved
        self.attempted = attempted
        self.failure = failure
    }

    /// The write result of a revision.
    package enum Answer: Equatable, Sendable {
        case saved
        case unsaved(String)
        /// No write was attempted yet.
        case pending
    }

    /// Whether a revision is on disk.
    package func answer(for revision: UInt64) -> Answer {
        if revision <= saved { return .saved }
        guard revision <= attempted, let failure else { return .pending }
        return .unsaved(failure)
    }
}

/// A destination that must record a commit before its author gets a reply: the storage, and the audit log.
package protocol CommitSink: AnyObject, Sendable {
    /// The write progress.
    var status: SaveStatus { get }

    /// Calls `body` after each write attempt, on the writer's thread, until the observation is released.
    func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation

    /// Writes deferred changes at once, because a client waits for them.
    func flush()

    /// Why it takes no changes of an origin now, with the remedy; nil if it does.
    func refusal(of origin: TweakOrigin) -> String?
}

extension CommitSink {
    package func refusal(of origin: TweakOrigin) -> String? { nil }
}

/// Makes overrides durable. TweaksStorage implements it and the server uses it, without depending on each other.
package protocol TweakStore: CommitSink {
    /// Whether changes from the wire must be on disk before they take effect.
    var isRequired: Bool { get }

    /// Whether saving a revision also saves its history entry.
    var keepsHistory: Bool { get }

    /// Writes overrides that are not in effect yet; nil means no override for that key.
    /// - Parameter body: Called once, on the storage's thread: with nil when they are on disk, or with the error.
    func propose(_ changes: [OverrideKey: StoredEntry?], then body: @escaping @Sendable (_ failure: String?) -> Void)

    /// Removes proposed overrides that did not take effect.
    func withdraw(_ changes: [OverrideKey: StoredEntry?])

    /// Defers writing new commits until ``endRound()``: a server commits for many clients in one round, and one
    /// write serves all. Other writes are not deferred.
    func beginRound()

    /// Starts writing the deferred commits.
    func endRound()

    /// Accepts the last changes of a registry that is released or detached.
    func storeLast(_ last: OverrideUpdate)
}

/// Keeps a callback registered until it is released.
package final class StoreObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    package init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}

extension TweakRegistry {
    /// Waits until every override set before the call is on disk. Returns at once without storage.
    ///
    /// ```swift
    /// size.value = 72
    /// try await registry.saved()
    /// ```
    /// - Throws: ``TweakError`` with code `io` when the write fails. The value stays in effect, and the write is
    ///   retried.
    public func saved() async throws(TweakError) {
        guard let store else { return }
        let revision = revision
        let failure = await store.failure(upTo: revision)
        if let failure { throw TweakError(.io, "revision \(revision) is not saved: \(failure)") }
    }
}

extension TweakStore {
    /// Calls `body` once, after a write attempt of a revision: with nil when it is saved, or with the error.
    package func whenAttempted(_ revision: UInt64, _ body: @escaping @Sendable (_ failure: String?) -> Void) {
        let waiter = RevisionWaiter(revision, body)
        waiter.keep(observe { waiter.update($0) })
        waiter.update(status)
        flush()
    }

    fileprivate func failure(upTo revision: UInt64) async -> String? {
        await withCheckedContinuation { continuation in
            whenAttempted(revision) { continuation.resume(returning: $0) }
        }
    }
}

/// Waits for a write attempt of a revision, and calls its body once.
private final class RevisionWaiter: Sendable {
    private struct State {
        var body: (@Sendable (String?) -> Void)?
        var observation: StoreObservation?
    }

    private let revision: UInt64
    private let state: Mutex<State>

    init(_ revision: UInt64, _ body: @escaping @Sendable (String?) -> Void) {
        self.revision = revision
        state = Mutex(State(body: body))
    }

    func keep(_ observation: StoreObservation) {
        state.withLock { if $0.body != nil { $0.observation = observation } }
    }

    func update(_ status: SaveStatus) {
        let failure: String?
        switch status.answer(for: revision) {
        case .pending: return
        case .saved: failure = nil
        case .unsaved(let reason): failure = reason
        }
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        ended.body?(failure)
    }
}
