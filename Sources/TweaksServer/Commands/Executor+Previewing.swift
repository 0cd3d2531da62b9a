// Handles preview, which shows other values in the process while a client holds a key, and takes them back by itself.

import Tweaks
import TweaksWire

/// The preview of this server's clients. Its values end with the connection that wanted them, or soon after it falls
/// silent: a designer's laptop that sleeps leaves nothing behind.
struct HeldPreview {
    /// Without a renewal for this time it ends; clients renew it twice as often.
    static let patience = Duration.seconds(10)
    /// It ends after this time even if it is renewed.
    static let longest = Duration.seconds(60)

    /// The connection that it ends with: that of the client, or its stream of events.
    let holder: SessionID
    let preview: TweakPreview
    /// When the first of those began that it has replaced.
    fileprivate let begins: Moment
    fileprivate private(set) var deadline: Moment

    fileprivate init(_ preview: TweakPreview, of holder: SessionID, since begins: Moment, at now: Moment) {
        self.holder = holder
        self.preview = preview
        self.begins = begins
        deadline = now
        renew(now)
    }

    fileprivate mutating func renew(_ now: Moment) { deadline = min(now + Self.patience, begins + Self.longest) }
}

extension Executor {
    /// Begins, replaces, renews or ends the preview of a client.
    ///
    /// With patterns it shows what `reset` would give; without them, what an open batch would set, which it closes; and
    /// without a batch it renews the preview that is on. A dry one only says what it would show.
    func preview(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        let isOff = request.keywords.contains(.off)
        // First: a refusal closes the batch, too. A client over HTTP has no other request that would.
        let batch = isOff ? nil : session.batch.take()
        let holder = try holder(request.number, session)
        if isOff { return .reply(endPreview(of: holder.id)) }
        let isDry = request.keywords.contains(.dry)
        guard hooks.previews || isDry else { throw Self.previewsAreOff }
        if let batch {
            if let failure = batch.failure { throw failure }
            return .reply(try preview(batch.changes, of: batch.nodes, isDry: isDry, for: holder, session))
        }
        if request.words.isEmpty { return .reply(try renewPreview(of: holder.id)) }
        return try sweep(request.words, session, where: \.mayBePreviewed) {
            executor, session, nodes throws(TweakError) in
            let batch = TweakBatch(.reset, of: nodes)
            return .reply(try executor.preview(batch, of: nodes, isDry: isDry, for: holder, session))
        }
    }

    private static let previewsAreOff = TweakError(
        .denied, "this program does not allow previews; it is started with previews: true where they do no harm")

    /// The session that a preview ends with.
    /// - Parameter stream: The number of the client's stream of events; nil for the session itself.
    private func holder(_ stream: UInt64?, _ session: Session) throws(TweakError) -> Session {
        guard let stream else { return session }
        let found = hub.sessions.first { $0.id.number == stream && $0.dialect.isStreaming }
        guard let found, found.origin.identity == session.origin.identity, found.origin.window == session.origin.window
        else {
            throw TweakError(
                .conflict, "you have no event stream \(stream); take the number that its hello names", isMissing: true)
        }
        return found
    }

    private func preview(
        _ batch: TweakBatch, of nodes: [TweakNode], isDry: Bool, for holder: Session, _ session: Session
    ) throws(TweakError) -> Reply {
        for node in nodes where !session.may(.write, node.path) {
            throw session.grants.rights.denied(.write, node.path)
        }
        guard nodes.contains(where: \.mayBePreviewed) else {
            throw TweakError(
                .conflict, "there is nothing to preview: not secrets, figures, actions and what needs a restart")
        }
        if isDry {
            return report(try registry.preview(batch, origin: session.origin, isDry: true))
        }
        try refuseGrowth(batch)
        guard isAuditReady(512 * batch.count + 2 * batch.textBytes, session) else {
            throw TweakError(.busy, "the audit is behind; try again in a moment", limit: .audit)
        }
        try session.accounts.chargeCommit(hooks.now)
        guard holder.isOpen else { throw TweakError(.closing, "the stream of events has ended; begin again") }
        let own = held.flatMap { $0.holder == holder.id && registry.preview === $0.preview ? $0 : nil }
        let started = try registry.preview(batch, origin: session.origin, replacing: own?.preview)
        held = started.preview.map { HeldPreview($0, of: holder.id, since: own?.begins ?? hooks.now, at: hooks.now) }
        if started.didChange {
            hasUnflushedCommits = true
            if durability.hasAudit { durability.noteCommit(started.revision, bytes: 512 * started.changes.count) }
        }
        return report(started)
    }

    private func report(_ started: StartedPreview) -> Reply {
        var reply = started.didChange ? .revision(started.revision) : unchanged(started.revision)
        reply.list(started.changes.map { .tweak(TweakLine($0.node, $0.shown, .was($0.value, .none))) })
        return reply
    }

    private func renewPreview(of holder: SessionID) throws(TweakError) -> Reply {
        guard var own = held, own.holder == holder, registry.preview === own.preview else {
            throw TweakError(
                .conflict, "you have no preview that is on: it has ended, or one of its tweaks has changed",
                isMissing: true)
        }
        own.renew(hooks.now)
        held = own
        return unchanged(registry.revision)
    }

    private func endPreview(of holder: SessionID) -> Reply {
        guard let held, held.holder == holder else { return unchanged(registry.revision) }
        self.held = nil
        hasUnflushedCommits = true
        return registry.end(held.preview).map { .revision($0) } ?? unchanged(registry.revision)
    }

    /// Ends the preview of a session that has ended.
    func endPreview(with session: Session) {
        if held?.holder == session.id { _ = endPreview(of: session.id) }
    }

    /// Ends the preview whose time is over.
    /// - Returns: When to look again; nil without a preview.
    func expirePreview(_ now: Moment) -> Moment? {
        guard let held else { return nil }
        if held.deadline > now, registry.preview === held.preview { return held.deadline }
        _ = endPreview(of: held.holder)
        return nil
    }
}
