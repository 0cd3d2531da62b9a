// Handles the command swap: switches to a preset, and back, by undo of the commit that switched.

import Tweaks
import TweaksWire

extension Executor {
    /// The maximum number of swaps to remember.
    private static let maxSwaps = 64

    /// Switches to a preset exactly; a second call restores the earlier overrides.
    func swap(_ name: String, force: Bool, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let name = try PresetName(name)
        if let revision = try swapRevision(name) { return try swapBack(name, revision, force: force, session) }
        if registry.historyLimit == 0 {
            throw TweakError(
                .conflict,
                "swap goes back by the history, which this program disables (historyLimit 0); load --only \(name) "
                    + "replaces all overrides, without a way back")
        }
        return try read(.swap, name, session)
    }

    /// Switches to a preset that was read.
    func swap(to reading: PresetReading, _ session: Session) throws(TweakError) -> Outcome {
        let name = reading.name
        // Another session has swapped to it meanwhile, so this call restores.
        if let revision = try swapRevision(name) { return try swapBack(name, revision, force: false, session) }
        var proposal = proposal(reading, session)
        proposal.whenCommitted = { [weak self] in if $0.didStore { self?.remember($0.revision, for: name) } }
        return try commit(proposal, session)
    }

    private func swapBack(
        _ name: PresetName, _ revision: UInt64, force: Bool, _ session: Session
    ) throws(TweakError) -> Outcome {
        let (registry, rights, number) = (registry, session.grants.rights, session.number)
        let remedy = "swap \(name) force goes back anyway"
        return try commitStep(
            session,
            { () throws(TweakError) in
                try registry.historyStep(
                    undoing: revision, force: force, remedy: remedy, session: number, rights: rights)
            },
            { _ in
                HistoryStep.Reply(note: ("back from \(name)", []), remarks: [("back", .string(name.text))])
            })
    }

    /// The revision of the commit that switched to a preset; nil without one. A swap that was undone counts as if it had
    /// not happened.
    /// - Throws: `conflict` if the history has forgotten the commit. The next swap switches to the preset again.
    private func swapRevision(_ name: PresetName) throws(TweakError) -> UInt64? {
        guard let revision = swaps[name] else { return nil }
        let isUndone = registry.isUndone(revision)
        if isUndone == false { return revision }
        swaps[name] = nil
        if isUndone == true { return nil }
        throw TweakError(
            .conflict,
            "the history has forgotten the swap to \(name), in revision \(revision), among newer changes, so there is no "
                + "way back; set or load the values that you want, or swap \(name) again to switch to it")
    }

    /// Remembers the commit of a swap. Clients may use any number of names, so the oldest swap is forgotten.
    private func remember(_ revision: UInt64, for name: PresetName) {
        swaps[name] = revision
        guard swaps.count > Self.maxSwaps, let oldest = swaps.min(by: { $0.value < $1.value }) else { return }
        swaps[oldest.key] = nil
    }
}
