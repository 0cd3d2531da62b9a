// Handles the commands save, load, presets, delete and diff.

import Dispatch
import Tweaks
import TweaksWire

extension Executor {
    /// Saves the current values of all overridden tweaks.
    func save(_ name: String, _ pattern: String?, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let name = try PresetName(name)
        return try sweep([pattern ?? "*"], session) { executor, session, nodes throws(TweakError) in
            try executor.save(nodes, name, pattern, session)
        }
    }

    private func save(
        _ nodes: [TweakNode], _ name: PresetName, _ pattern: String?, _ session: Session
    ) throws(TweakError) -> Outcome {
        let (snapshot, origin, limit) = (registry.snapshot(), session.origin, limits.lineBytes)
        // The preset may hold more than this session sees.
        let mayReplace = session.grants.rights.isWhole(.write)
        let isLimited = !session.grants.rights.isWhole(.admin)
        let share = isLimited ? PresetQuota(session.account.name, limits.presetsPerPeer) : nil
        return try withPresets(session) { store throws(TweakError) in
            try share?.check(name, store)
            let draft = snapshot.draft(of: nodes, pattern: pattern, origin: origin, lineLimit: limit)
            return .saved(name, draft, replaced: try store.write(draft, as: name, mayReplace: mayReplace))
        }
    }

    /// Limits the number of presets that one peer has saved.
    private struct PresetQuota {
        let peer: String
        let limit: Int

        init(_ peer: String, _ limit: Int) { (self.peer, self.limit) = (peer, limit) }

        func check(_ name: PresetName, _ store: any PresetStore) throws(TweakError) {
            let own = try store.list().filter { isOwn($0) }
            if own.count < limit || own.contains(where: { $0.name == name }) { return }
            throw TweakError(
                .tooMany, "\(own.count) presets were saved by \(peer); delete one of them, or save under its name",
                limit: .presetsPerPeer)
        }

        /// Presets of an address name its port as well.
        private func isOwn(_ preset: PresetSummary) -> Bool {
            preset.heading.by.map { $0 == peer || $0.hasPrefix("\(peer):") } ?? false
        }
    }

    func presets(_ session: Session) throws(TweakError) -> Outcome {
        let isWhole = session.grants.rights.isWhole(.read)
        return try withPresets(session) { store throws(TweakError) in .presets(try store.list(), isWhole: isWhole) }
    }

    func delete(_ name: String, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let name = try PresetName(name)
        return try withPresets(session) { store throws(TweakError) in
            try store.delete(name)
            return .ok("deleted \(name)", [("deleted", .string(name.text))])
        }
    }

    /// Compares a preset with the current values, or with another preset.
    func diff(_ name: String, _ other: String?, _ session: Session) throws(TweakError) -> Outcome {
        let name = try PresetName(name)
        var second: PresetName?
        if let other { second = try PresetName(other) }
        let (view, other) = (view(session), second)
        return try withPresets(session) { store throws(TweakError) in
            let preset = try store.read(name)
            guard let other else {
                return .difference(PresetDifference(comparingCurrentTo: preset, view), "in force", name.text)
            }
            let difference = PresetDifference(preset, try store.read(other), view)
            return .difference(difference, name.text, other.text)
        }
    }

    // MARK: Loading

    /// Reads and validates a preset off the I/O thread, then commits it.
    func load(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let (only, partly) = (request.keywords.contains(.only), request.keywords.contains(.partly))
        return try read(.load(only: only, partly: partly), try PresetName(request.word), session)
    }

    /// Reads a preset for this session.
    func read(_ purpose: PresetReading.Purpose, _ name: PresetName, _ session: Session) throws(TweakError) -> Outcome {
        let (store, view, registry, id) = (try presetStore(session), view(session), registry, session.id)
        return runInBackground(session) { () throws(TweakError) in
            let plan = PresetPlan(try store.read(name), view)
            let reading = PresetReading(name: name, purpose: purpose, plan: plan, registry)
            return .validated(id) { executor, session in executor.finish(reading, session) }
        }
    }

    /// Commits a preset; the reply may still have to wait for the disk.
    private func finish(_ reading: PresetReading, _ session: Session) -> Outcome {
        if !reading.plan.problems.isEmpty, !reading.isPartly { return .reply(.refused(reading)) }
        do throws(TweakError) {
            if case .swap = reading.purpose { return try swap(to: reading, session) }
            return try commit(proposal(reading, session), session)
        } catch {
            notifyDenied(error, "load", session)
            return .reply(.error(error))
        }
    }

    /// The changes of a preset. Two presets in quick succession are two steps in the history.
    func proposal(_ reading: PresetReading, _ session: Session) -> Proposal {
        var proposal = Proposal(reading.batch, nodes: reading.nodes)
        proposal.prepared = reading.prepared
        proposal.kind = .change(session: session.number, isStep: true)
        proposal.note = (reading.words, [])
        proposal.remarks = (reading.remarks, reading.fields)
        return proposal
    }

    // MARK: Background work

    /// Replies with the result of `body`, which runs off the I/O thread and may wait for disks.
    private func withPresets(
        _ session: Session, _ body: @escaping @Sendable (any PresetStore) throws(TweakError) -> Reply
    ) throws(TweakError) -> Outcome {
        let (store, id) = (try presetStore(session), session.id)
        return runInBackground(session) { () throws(TweakError) in .answered(id, try body(store)) }
    }

    /// Runs work for a session off the I/O thread, where it may wait for disks and the program's checks.
    /// - Parameter queue: By default, that of presets.
    func runInBackground(
        _ session: Session, on queue: DispatchQueue? = nil,
        _ body: @escaping @Sendable () throws(TweakError) -> Mailbox.Message
    ) -> Outcome {
        let (id, mailbox, cancellation) = (session.id, mailbox, CancellationFlag())
        (queue ?? presetQueue).async {
            do throws(TweakError) {
                if let refusal = cancellation.refusal { throw refusal }
                mailbox.post(try body())
            } catch {
                mailbox.post(.answered(id, .error(error)))
            }
        }
        return .running(.init(.request, cancellation))
    }

    private func presetStore(_ session: Session) throws(TweakError) -> any PresetStore {
        if registry.isFrozen {
            throw TweakError(.readOnly, "this process is frozen (TWEAKS_FROZEN); it has no presets")
        }
        guard let store = hooks.presets else {
            throw TweakError(
                .io,
                "presets need a state directory, and this process has none; name one in TWEAKS_STATE_DIR, or in "
                    + "the program")
        }
        try refuseIfBusy(session)
        return store
    }

    func refuseInBatch(_ session: Session) throws(TweakError) {
        if session.batch != nil { throw TweakError(.usage, "a batch is open; commit or abort it first") }
    }
}
