// Writes styled lines to standard output and messages to standard error.

import Synchronization
import Tweaks

/// The output streams of a command-line program.
package struct Output: Sendable {
    /// The program's name, printed before each message on standard error.
    package let program: String
    /// The style of standard output.
    package let style: Style
    private let errorStyle: Style
    /// Masks secrets in text for standard error.
    private let masked: @Sendable (String) -> String
    private let sink: (@Sendable (String) -> Void)?

    /// - Parameters:
    ///   - isJSON: Whether output is one JSON object a line, which is never styled.
    ///   - sink: Receives all lines in place of the standard streams.
    package init(
        program: String, isJSON: Bool, masked: @escaping @Sendable (String) -> String = { $0 },
        sink: (@Sendable (String) -> Void)? = nil
    ) {
        (self.program, self.masked, self.sink) = (program, masked, sink)
        style = isJSON || sink != nil ? .plain : Style.of(1)
        errorStyle = sink != nil ? .plain : Style.of(2)
    }

    /// The error number of the first failed write; 0 while all succeeded.
    private static let failure = Atomic<Int32>(0)
    /// Whether a write failed although standard output still has a reader.
    package static var hasFailed: Bool { ![0, EPIPE, EBADF].contains(failure.load(ordering: .relaxed)) }
    /// Whether the reader of standard output has closed it.
    package static var readerHasGone: Bool { failure.load(ordering: .relaxed) == EPIPE }
    /// Whether standard output has no reader: it was closed there, or is not open here.
    package static var hasNoReader: Bool { [EPIPE, EBADF].contains(failure.load(ordering: .relaxed)) }

    /// Prints lines on standard output. A missing reader or a closed standard output does not stop the program; any
    /// other write error, such as a full disk, is reported once and becomes a failure in the end.
    package func print(_ lines: [String]) {
        if lines.isEmpty { return }
        if let sink { return lines.forEach(sink) }
        var bytes: [UInt8] = []
        for line in lines {
            bytes.append(contentsOf: line.utf8)
            bytes.append(UInt8(ascii: "\n"))
        }
        if System.write(bytes, to: 1) { return }
        let code = errno
        let (isFirst, _) = Self.failure.compareExchange(expected: 0, desired: code, ordering: .relaxed)
        if !isFirst || !Self.hasFailed { return }
        reportProblem("standard output: \(errorText(code)); the output is incomplete; free some space")
    }

    /// Prints an error or a warning on standard error.
    package func reportProblem(_ text: String) { writeError(text, .error) }

    /// Prints a remark on standard error, so that standard output holds the requested data only.
    package func printRemark(_ text: String) { writeError(text, .faint) }

    /// Asks for confirmation. Without a terminal, `--yes` is required.
    package func confirm(_ question: String, isYes: Bool) throws(Failure) -> Bool {
        if isYes { return true }
        guard System.isTerminal(0), System.isTerminal(2) else {
            throw Failure(.usage, "\(question) There is no terminal to ask on; use --yes")
        }
        System.write(Array("\(Quoting.sanitized(question)) [y/N] ".utf8), to: 2)
        let answer = readLine() ?? ""
        return ["y", "yes"].contains(answer.lowercased())
    }

    private func writeError(_ text: String, _ role: Style.Role) {
        let line = "\(errorStyle.paint("\(program):", role)) \(Quoting.sanitized(masked(text)))"
        if let sink { return sink(line) }
        System.write(Array("\(line)\n".utf8), to: 2)
    }
}
