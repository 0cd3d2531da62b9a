// Says how a config file is taken: which lines are errors, and whether the file wins over overrides.

/// What becomes of a config file that names tweaks which are not registered.
package struct ConfigPolicy: Sendable {
    /// They are errors like the others; else they are held until they register.
    package var unknownIsError = false
    /// A value that changes in the file drops the override above it; else the override stays.
    package var fileWins = false
    /// So many problems are listed; the others are counted.
    package var listedProblems = Int.max

    package init(unknownIsError: Bool = false, fileWins: Bool = false, listedProblems: Int = .max) {
        self.unknownIsError = unknownIsError
        self.fileWins = fileWins
        self.listedProblems = listedProblems
    }

    /// How the lines are judged.
    var rules: AssignmentRules { AssignmentRules(holdsUnknown: !unknownIsError, listedProblems: listedProblems) }
}
