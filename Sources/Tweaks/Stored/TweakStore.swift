// The storage as the registry and the server see it: what is on disk, and a way to ask.

import Synchronization

/// How far a storage has come.
package struct SaveStatus: Sendable, Equatable {
    /// Everything up to this revision is on disk.
    package var saved: UInt64
    /// Everything up to this revision was tried.
    package var tried: UInt64
    /// Why the last attempt failed; nil when it succeeded.
    package var failure: String?

    package init(saved: UInt64, tried: UInt64, failure: String? = nil) {
        self.saved = saved
        self.tried = tried
        self.failure = failure
    }

    /// What is known about a revision.
    package enum Answer: Equatable, Sendable {
        case saved
        case unsaved(String)
        /// Nobody has tried yet.
        case pending
    }

    /// Whether a revision is on disk.
    package func answer(for revision: UInt64) -> Answer {
        if revision <= saved { return .saved }
        guard revision <= tried, let failure else { return .pending }
        return .unsaved(failure)
    }
}

/// What has to have a commit before its author is answered: the storage, and the audit.
package protocol CommitWitness: AnyObject, Sendable {
    /// How far it is.
    var status: SaveStatus { get }

    /// Calls `body` after each attempt to write, on a thread of its own, until the observation is let go of.
    func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation

    /// A client waits for what was not urgent: it is written at once, if it is not there.
    func hurry()
}

/// What makes overrides durable. Storage implements it and the server asks; neither knows the other.
package protocol TweakStore: CommitWitness {
    /// Whether changes from the wire have to be on disk before they take effect.
    var isRequired: Bool { get }

    /// Whether a commit's entry in the history is on disk, too, when its revision is.
    var keepsHistory: Bool { get }

    /// Writes overrides that are not in force yet; nil in the list means none for that key.
    /// - Parameter body: Called once, on the storage's thread: nil when they are on disk, or why they are not.
    func propose(_ changes: [OverrideKey: StoredEntry?], then body: @escaping @Sendable (_ failure: String?) -> Void)

    /// Takes back what was proposed and could not be put into force.
    func withdraw(_ changes: [OverrideKey: StoredEntry?])

    /// Has what is committed from now on wait until ``endRound()``: a server commits for many clients in a round, and one
    /// write is enough for all. What is asked for otherwise does not wait.
    func beginRound()

    /// Begins with what was committed meanwhile.
    func endRound()

    /// Takes what is to be stored of a registry that is let go of, or stores no more; nothing comes after it.
    func keep(_ last: StoreBatch)
}

/// Keeps a call-back alive.
package final class StoreObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    package init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}

extension TweakRegistry {
    /// What makes overrides durable; nil without storage.
    package var store: (any TweakStore)? { state.withLock { $0.store } }

    /// Waits until the disk holds every override that was set before the call. Without storage it returns at once.
    ///
    /// ```swift
    /// size.value = 72
    /// try await registry.saved()
    /// ```
    /// - Throws: ``TweakError`` with code `io` when the disk refuses. The value stays in effect, and the write is tried again.
    public func saved() async throws(TweakError) {
        let (store, revision) = state.withLock { ($0.store, $0.revision) }
        guard let store else { return }
        let failure = await store.failure(upTo: revision)
        if let failure { throw TweakError(.io, "revision \(revision) is not saved: \(failure)") }
    }
}

extension TweakStore {
    /// Calls `body` once, when a revision was tried: with nil when it is saved, or with the reason.
    package func whenTried(_ revision: UInt64, _ body: @escaping @Sendable (_ failure: String?) -> Void) {
        let waiting = WaitForRevision(revision, body)
        waiting.keep(observe { waiting.look($0) })
        waiting.look(status)
        hurry()
    }

    fileprivate func failure(upTo revision: UInt64) async -> String? {
        await withCheckedContinuation { continuation in
            whenTried(revision) { continuation.resume(returning: $0) }
        }
    }
}

/// Somebody who waits for a revision; called once.
private final class WaitForRevision: Sendable {
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

    func look(_ status: SaveStatus) {
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
