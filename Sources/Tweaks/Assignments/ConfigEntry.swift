// Holds one line of a list of assignments, and says what can be wrong with it.

/// One assignment of a config file, a preset or an import.
package struct ConfigEntry: Sendable {
    /// The path as it stands there.
    package let path: String
    /// The value, one token without its quotes.
    package let text: String
    package let line: Int
    /// File and line, for `explain`.
    package let origin: TweakOrigin

    package init(path: String, text: String, line: Int, origin: TweakOrigin) {
        self.path = path
        self.text = text
        self.line = line
        self.origin = origin
    }
}

/// What is wrong with a line.
package struct ConfigProblem: Error, Sendable, Equatable {
    package let line: Int
    package let error: TweakError

    package init(line: Int, error: TweakError) {
        self.line = line
        self.error = error
    }
}

/// The problems of a text: the first ones and their number, so that a text of nothing else does not fill the memory.
package struct ConfigProblems: Sendable, Equatable {
    /// In the order of the lines.
    package private(set) var first: [ConfigProblem] = []
    /// How many there are in all.
    package private(set) var count = 0
    /// So many are kept.
    private let limit: Int

    package init(_ problems: [ConfigProblem] = [], limit: Int = .max) {
        self.limit = limit
        for problem in problems { append(problem) }
    }

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ problem: ConfigProblem) {
        if first.count < limit { first.append(problem) }
        count += 1
    }

    /// Both, in the order of the lines; of each the problems are in order.
    package func merged(with other: ConfigProblems) -> ConfigProblems {
        var all = self
        all.first = Array((first + other.first).sorted { $0.line < $1.line }.prefix(limit))
        all.count += other.count
        return all
    }
}
