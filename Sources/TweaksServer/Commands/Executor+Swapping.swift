// The command swap: to a preset, and back.

import Tweaks
import TweaksWire

extension Executor {
    /// So many presets can be looked at at once.
    static let mostSwaps = 64

    /// Goes to a preset exactly; typed again, back to the overrides that were.
    func swap(_ name: String, force: Bool, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let name = try PresetName(name)
        // Taken back by undo, it is as if it had never been.
        if let swap = swaps[name], !force, registry.isUndone(swap) { swaps[name] = nil }
        guard let swap = swaps[name] else { return try read(.swap, name, session) }
        let (batch, nodes, revision) = try registry.wayBack(swap, name, force: force)
        var proposal = Proposal(batch, nodes: nodes, ifUnchangedSince: force ? nil : revision)
        proposal.kind = .change(session: session.number, isStep: true)
        proposal.note = ("back from \(name)", [])
        proposal.remarks = ([], [("back", .string(name.text))])
        proposal.whenCommitted = { [weak self] _ in self?.swaps[name] = nil }
        return try commit(proposal, session)
    }

    /// Names may be made up without end, so the oldest way back is forgotten.
    private func remember(_ swap: PresetSwap, for name: PresetName) {
        // So may their texts.
        if swap.heldBytes > memory.swapShare { return }
        while swaps.count >= Self.mostSwaps || swapBytes + swap.heldBytes > memory.swapShare,
            let oldest = swaps.min(by: { $0.value.revision < $1.value.revision })
        {
            swaps[oldest.key] = nil
        }
        swaps[name] = swap
    }

    /// Goes to a preset that was read. What is committed and what is remembered begin at the same revision.
    func swap(to reading: PresetReading, _ session: Session) throws(TweakError) -> Outcome {
        // Somebody else was faster, so this one is the way back.
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
                // Somebody has set one of its tweaks in between: look again.
                if error.code != .conflict { throw error }
            }
        }
    }
}
