// Defines one line of a list of assignments, and the problems found in it.

/// One assignment of a config file, a preset or an import.
package struct ConfigEntry: Sendable {
    /// The path as written in the line.
    package let path: String
    /// The value: one token, without quotes.
    package let text: String
    package let line: Int
    let source: Source

    /// Where entries come from. A file's name is shared by all its lines, so that they need no text each.
    enum Source: Equatable, Sendable {
        case origin(TweakOrigin)
        case file(String)

        /// The origin of a line.
        func origin(line: Int) -> TweakOrigin {
            switch self {
            case .origin(let origin): origin
            case .file(let name): TweakOrigin("\(name):\(line)")
            }
        }
    }

    package init(path: String, text: String, line: Int, origin: TweakOrigin) {
        self.path = path
        self.text = text
        self.line = line
        source = .origin(origin)
    }

    /// A line of a file; its origin is `FILE:LINE`.
    package init(path: String, text: String, line: Int, file: String) {
        self.path = path
        self.text = text
        self.line = line
        source = .file(file)
    }

    /// File and line, for `explain`.
    package var origin: TweakOrigin { source.origin(line: line) }
}

/// An error in a line.
package struct ConfigProblem: Error, Sendable, Equatable {
    package let line: Int
    package let error: TweakError

    package init(line: Int, error: TweakError) {
        self.line = line
        self.error = error
    }
}

/// The problems of a text: the first ones and the total count, so that a text full of errors uses bounded memory.
package struct ConfigProblems: Sendable, Equatable {
    /// The first problems, in line order.
    package private(set) var first: [ConfigProblem] = []
    /// The total number of problems.
    package private(set) var count = 0
    /// The size limit of `first`.
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

    /// Both lists merged in line order; each must be in line order already.
    package func merged(with other: ConfigProblems) -> ConfigProblems {
        var all = self
        all.first = Array((first + other.first).sorted { $0.line < $1.line }.prefix(limit))
        all.count += other.count
        return all
    }
}
