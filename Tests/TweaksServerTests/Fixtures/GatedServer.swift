// A server whose storage completes writes only when the test tells it to.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// A server on a Unix socket with a gated storage.
final class GatedServer: TestServer {
    let store: GatedStore

    /// - Parameter isStored: Whether the registry has the storage.
    init(
        isRequired: Bool = false, isStored: Bool = true, limits: TweakServerLimits = TweakServerLimits(),
        hooks: TweakServerHooks = TweakServerHooks(), clock: ManualClock = ManualClock(isRunning: true),
        hasThread: Bool = false, hasTCP: Bool = false
    ) throws {
        store = GatedStore(isRequired: isRequired)
        try super.init(
            limits: limits, hooks: hooks, port: hasTCP ? .open : .none, store: isStored ? store : nil, clock: clock,
            hasThread: hasThread)
    }

    /// A client that does not run the server's turns: requests of several such clients arrive together.
    func connectWithoutTurns() throws -> TestClient { try TestClient(unix: path, owner: self) }

    /// Waits until another session sees a revision. Requests sent before that have been begun by then.
    func waitForRevision(_ revision: UInt64, _ other: TestClient, at location: SourceLocation = #_sourceLocation) throws
    {
        try eventually(turning: stepped, at: location) { try other.stats("rev") == "\(revision)" }
    }

    /// Sends lines with a client, and waits until another session sees a revision.
    func send(
        _ lines: String, _ client: TestClient, until revision: UInt64, _ other: TestClient,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        try client.send(lines + "\n")
        try waitForRevision(revision, other, at: location)
    }

    /// Sends lines with a client, and waits until a number of changes wait to be written.
    func propose(
        _ lines: String, _ client: TestClient, _ count: Int = 1, at location: SourceLocation = #_sourceLocation
    ) throws {
        try client.send(lines + "\n")
        try waitForProposals(count, at: location)
    }

    /// Waits until a number of changes wait to be written.
    func waitForProposals(_ count: Int, at location: SourceLocation = #_sourceLocation) throws {
        try eventually(turning: stepped, at: location) { store.proposals >= count }
    }

    /// Waits for a number of changes to be written, and answers them.
    func answerProposals(_ count: Int = 1, _ failure: String? = nil) throws {
        try waitForProposals(count)
        store.answerProposals(failure)
    }
}
