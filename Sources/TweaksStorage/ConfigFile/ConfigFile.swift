// Parses a config file, lists why it was rejected, and selects the lines that are kept for the next run.

package import Tweaks
import TweaksWire

/// A parsed config file. The registry validates its values.
package struct ConfigFile: Sendable {
    private let lines: AssignmentLines
    private let name: String
    /// The lines that are not assignments.
    package var problems: [ConfigProblem] { lines.problems }
    /// The same, with their total number.
    package var allProblems: ConfigProblems { lines.allProblems }

    /// Further assignments are rejected: a program has some hundred tweaks, and assignments to unknown ones stay in
    /// memory.
    package static let maxAssignments = 100_000

    /// Parses the bytes of a file.
    /// - Parameters:
    ///   - name: The file's name for `explain`.
    ///   - listedProblems: The maximum number of listed problems; others are only counted.
    ///   - isCancelled: Polled during parsing; if true, the rest is skipped.
    package init(
        _ bytes: [UInt8], name: String, listedProblems: Int = .max, isCancelled: () -> Bool = { false }
    ) {
        self.name = name
        lines = AssignmentLines(
            bytes, in: "a config file", listedProblems: listedProblems, maxAssignments: Self.maxAssignments,
            isCancelled: isCancelled)
    }

    /// The assignments, created on access: for a large file they take more memory than the file.
    package var entries: some RandomAccessCollection<ConfigEntry> {
        lines.assignments.lazy.map { [name] assignment in
            ConfigEntry(path: assignment.path, text: assignment.text, line: assignment.line, file: name)
        }
    }
}

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

    package init(path: String, problems: [Problem], count: Int) {
        self.path = path
        self.problems = problems
        self.count = count
    }

    /// - Parameter unknown: The paths that no tweak has. The first are listed, since they may be misspelled; in a file
    ///   without errors they are pending.
    init(_ path: String, _ errors: ConfigProblems, unknown: [ConfigProblem]) {
        let shown = unknown.prefix(min(Self.maxUnknown, max(0, ConfigReloader.listedProblems - errors.first.count)))
        let all = errors.merged(with: ConfigProblems(Array(shown)))
        self.init(path: path, problems: all.first.map { .init(line: $0.line, error: $0.error) }, count: all.count)
    }

    /// More paths that no tweak has wait for plug-ins rather than being misspelled.
    private static let maxUnknown = 20

    /// The first error; a path without a tweak only if there is no other error.
    private var first: Problem? { problems.first { $0.error.code != .unknownTweak } ?? problems.first }

    /// The code of the first error.
    package var code: TweakError.Code { first?.error.code ?? .io }

    /// The line of the first error.
    package var firstLine: String? { first.map(line) }

    /// `FILE:12: code text` for each listed problem, and the number of the others.
    package var lines: [String] { problems.map(line) + more }

    private func line(_ problem: Problem) -> String {
        "\(path)\(problem.line.map { ":\($0)" } ?? ""): \(problem.error)"
    }

    /// `… and 900 more`, if not all are listed.
    package var more: [String] { count > problems.count ? ["… and \(count - problems.count) more"] : [] }
}

/// The applied assignments to tweaks of the program, without those of secrets, and the copy of them on disk.
struct AppliedLines {
    var bytes: [UInt8] = []
    /// Where the copy is; nil if none is kept.
    var path: String?
    /// The content of the copy; nil if it is unknown.
    var saved: [UInt8]?

    /// Selects the lines of a file that was applied.
    static func selected(from bytes: [UInt8], _ file: ConfigFile, _ registry: TweakRegistry) -> [UInt8] {
        let view = TweakView(registry)
        let numbers = Set(
            file.entries.lazy.filter { view[$0.path].map { !$0.flags.contains(.secret) } ?? false }.map(\.line))
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.enumerated().lazy.filter { numbers.contains($0.offset + 1) }.flatMap { $0.element + [0x0a] }
    }

    /// The content of a copy; nil if it is missing, unreadable, or not what was written.
    static func content(of copy: String) -> [UInt8]? {
        guard case .bytes(let bytes) = FileContent(path: copy, isStrict: true) else { return nil }
        return ConfigFile(bytes, name: copy, listedProblems: 1).problems.isEmpty ? bytes : nil
    }

    /// The copy to be written; nil if it is up to date, or none is kept.
    var unsaved: (path: String, bytes: [UInt8])? { path.flatMap { bytes == saved ? nil : ($0, bytes) } }
}
