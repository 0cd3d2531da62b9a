// Sorts the temporary overrides by expiry, soonest first.

/// The expiry times of all temporary overrides of a registry. Part of its state.
struct ExpirySchedule: Sendable {
    private var entries: [(end: Moment, node: TweakNode)] = []

    /// The next expiry; nil if there is none.
    var next: ContinuousClock.Instant? { entries.first?.end.instant }

    /// The number of pending expiries.
    var count: Int { entries.count }

    /// Updates the expiry of a tweak's temporary override; nil means none.
    mutating func move(_ node: TweakNode, from old: Moment?, to new: Moment?) {
        if old == new { return }
        if let old { remove(node, at: old) }
        if let new { entries.insert((new, node), at: position(of: new)) }
    }

    /// The tweaks whose temporary overrides have expired.
    func due(_ time: Moment) -> [TweakNode] { entries.prefix { $0.end <= time }.map(\.node) }

    private mutating func remove(_ node: TweakNode, at end: Moment) {
        var index = position(of: end)
        while index < entries.count, entries[index].end == end {
            if entries[index].node === node {
                entries.remove(at: index)
                return
            }
            index += 1
        }
    }

    /// The index of the first entry with this or a later end.
    private func position(of end: Moment) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].end < end { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
