// Shares a limit among clients, and searches sorted collections.

extension Collection<Int> {
    /// The share that each may keep, so that all together keep a total: who has less loses nothing.
    func largestShare(keeping total: Int) -> Int {
        var rest = Swift.max(0, total)
        for (position, share) in sorted().enumerated() {
            let most = rest / (count - position)
            if share > most { return most }
            rest -= share
        }
        return 0
    }
}

extension RandomAccessCollection where Index == Int {
    /// The index of the first element that does not belong to the first part, in a collection whose first part comes
    /// first; its end if all do.
    @inlinable
    package func endOfFirstPart(where belongs: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if belongs(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
