// How many tweaks there are and how many are modified, kept while values change: no frame counts ten thousand.

/// The figures of a group.
struct Tally: Equatable {
    var all = 0
    var modified = 0
}

extension EditorModel {
    /// Those of a category or a collection; with an empty name of all together.
    func counts(of group: String) -> Tally { tallies[group] ?? Tally() }

    /// Counts anew.
    mutating func count() {
        tallies = [:]
        for tweak in tweaks {
            for group in tweak.groups {
                tallies[group, default: Tally()].all += 1
                if tweak.isModified { tallies[group, default: Tally()].modified += 1 }
            }
        }
        newsPositions = Set(tweaks.indices.filter { tweaks[$0].news != nil })
    }

    /// Changes what is known about a tweak; whether it is modified may change with it.
    mutating func update(_ position: Int, _ change: (inout EditorTweak) -> Void) {
        let was = tweaks[position].isModified
        change(&tweaks[position])
        let tweak = tweaks[position]
        if tweak.isModified == was { return }
        for group in tweak.groups { tallies[group, default: Tally()].modified += was ? -1 : 1 }
        if showsOnlyModified { arrange() }
    }
}

extension EditorTweak {
    fileprivate var groups: [String] { ["", parts[0], collection] }
}
