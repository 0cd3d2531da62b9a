// Counts all and modified tweaks of each group, and updates the counts incrementally.

/// The counts of a group.
struct GroupCounts: Equatable {
    var all = 0
    var modified = 0
}

extension EditorModel {
    /// The counts of a category or a collection; the empty name has the totals.
    func counts(of group: String) -> GroupCounts { groupCounts[group] ?? GroupCounts() }

    /// Recounts everything.
    mutating func count() {
        groupCounts = [:]
        for tweak in tweaks {
            for group in tweak.groups {
                groupCounts[group, default: GroupCounts()].all += 1
                if tweak.isModified { groupCounts[group, default: GroupCounts()].modified += 1 }
            }
        }
        recentlyChanged = Set(tweaks.indices.filter { tweaks[$0].recentChange != nil })
    }

    /// Updates a tweak and the counts of its groups.
    mutating func update(_ position: Int, _ change: (inout EditorTweak) -> Void) {
        let was = tweaks[position].isModified
        change(&tweaks[position])
        let tweak = tweaks[position]
        if tweak.isModified == was { return }
        for group in tweak.groups { groupCounts[group, default: GroupCounts()].modified += was ? -1 : 1 }
        if showsOnlyModified { arrange() }
    }
}

extension EditorTweak {
    fileprivate var groups: [String] { ["", parts[0], collection] }
}
