// Lists the bad lines for which a config file was rejected.

package import Tweaks

/// Why a config file was rejected; nothing has changed.
package struct ReloadFailure: Error, Sendable, Equatable {
    /// The path of the file.
    package let path: String
    /// The first bad lines, in order; without a line number if the file itself is bad.
    package let problems: [Problem]
    /// The total number of problems.
    package let count: Int

    package struct Problem: Sendable, Equatable {
        package let line: Int?
        package let error: TweakError
    }

    /// `FILE:12: code text` for each listed problem, and the number of the others.
    package var lines: [String] {
        problems.map { problem in
            "\(path)\(problem.line.map { ":\($0)" } ?? ""): \(problem.error)"
        } + more
    }

    /// `… and 900 more`, if not all are listed.
    package var more: [String] { count > problems.count ? ["… and \(count - problems.count) more"] : [] }
}
