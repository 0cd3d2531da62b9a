// Configures how a config file is applied: whether unknown tweaks are errors, and whether the file drops overrides.

/// The policy for applying a config file.
package struct ConfigPolicy: Sendable {
    /// Lines for unregistered tweaks are errors; otherwise their values stay pending until the tweaks register.
    package var unknownIsError = false
    /// A changed value in the file drops the tweak's override; otherwise the override stays.
    package var fileWins = false
    /// The number of problems to list; further ones are only counted.
    package var listedProblems = Int.max
    /// The bytes of memory that the values of unregistered tweaks can use.
    package var pendingBytes = 33_554_432

    package init(unknownIsError: Bool = false, fileWins: Bool = false, listedProblems: Int = .max) {
        self.unknownIsError = unknownIsError
        self.fileWins = fileWins
        self.listedProblems = listedProblems
    }

    /// The validation rules for the lines.
    var rules: AssignmentRules {
        AssignmentRules(keepsUnknown: !unknownIsError, listedProblems: listedProblems, pendingBytes: pendingBytes)
    }
}
