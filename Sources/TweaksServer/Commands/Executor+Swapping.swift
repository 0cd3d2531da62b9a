// Handles the command swap: switches to a preset, and back.

import Tweaks
import TweaksWire

extension Executor {
    /// The maximum number of swaps to remember.
    static let maxSwaps = 64

    /// Switches to a preset exactly; a second call restores the earlier overrides.
    func swap(_ name: String, force: Bool, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let name = try PresetName(name)
        // A swap that was undone counts as if it had not happened.
        if let swap = swaps[name], !force, registry.isUndone(swap) { swaps[name] = nil }
        guard let swap = swaps[name] else { return try read(.swap, name, session) }
        let (batch, nodes, revision) = try registry.restorationBatch(swap, name, force: force)
        var proposal = Proposal(batch, nodes: nodes, ifUnchangedSince: force ? nil : revision)
        proposal.kind = .change(session: session.number, isStep: true)
        proposal.note = ("back from \(name)", [])
        proposal.remarks = ([], [("back", .string(name.text))])
        proposal.whenCommitted = { [weak self] _ in self?.swaps[name] = nil }
        return try commit(proposal, session)
    }

    /// Remembers how to restore the overrides. Clients may use any number of names, so the oldest swap is forgotten.
    private func remember(_ swap: PresetSwap, for name: PresetName) {
        // Their texts may be long as well.
        if swap.memorySize > memory.swapShare { return }
        while swaps.count >= Self.maxSwaps || swapBytes + swap.memorySize > memory.swapShare,
            let oldest = swaps.min(by: { $0.value.revision < $1.value.revision })
        {
            swaps[oldest.key] = nil
        }
        swaps[name] = swap
    }

    /// Switches to a preset that was read. The commit and the remembered overrides start at the same revision.
    func swap(to reading: PresetReading, _ session: Session) throws(TweakError) -> Outcome {
        // Another session has swapped to it meanwhile, so this call restores.
        if swaps[reading.name] != nil { return try swap(reading.name.text, force: false, session) }
        while true {
            var proposal = proposal(reading, session)
            let swap = registry.swap(for: proposal.batch)
            proposal.expected = swap.revision
            proposal.whenCommitted = { [weak self] result in
                var swap = swap
                swap.keep(result)
                if !swap.isEmpty, self?.swaps[reading.name] == nil { self?.remember(swap, for: reading.name) }
            }
            do throws(TweakError) {
                return try commit(proposal, session)
            } catch {
                // Another session has set one of its tweaks meanwhile: try again.
                if error.code != .conflict { throw error }
            }
        }
    }
}
