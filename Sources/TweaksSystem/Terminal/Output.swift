// Writes styled lines to standard output and messages to standard error, as far as the terminal can display them.

import Synchronization
import Tweaks

/// The output streams of a command-line program.
package struct Output: Sendable {
    /// The program's name, printed before each message on standard error.
    package let program: String
    /// The style of standard output.
    package let style: Style
    private let errorStyle: Style
    /// Whether output is one JSON object a line.
    private let isJSON: Bool
    /// Masks secrets in texts of errors.
    private let masked: @Sendable (String) -> String
    private let sink: (@Sendable (String) -> Void)?

    /// - Parameters:
    ///   - isJSON: Whether output is one JSON object a line, which is never styled.
    ///   - sink: Receives all lines in place of the standard streams.
    package init(
        program: String, isJSON: Bool, masked: @escaping @Sendable (String) -> String = { $0 },
        sink: (@Sendable (String) -> Void)? = nil
    ) {
        self.program = program
        self.isJSON = isJSON
        self.masked = masked
        self.sink = sink
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

    /// Prints the error that ends the program; in JSON also as an object on standard output.
    package func report(_ failure: Failure) {
        printRefusal(failure.code.name, failure.description)
        reportProblem(failure.description)
    }

    /// In JSON, prints an error as an object on standard output.
    package func printRefusal(_ code: String, _ message: String) {
        guard isJSON else { return }
        let error = JSON.object([("code", .string(code)), ("message", .string(masked(message)))])
        print([Quoting.sanitized(JSON.object([("ok", .bool(false)), ("error", error)]).text)])
    }

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

/// The capabilities that output may use.
package struct Style: Equatable, Sendable {
    /// Whether lines are formatted for reading; otherwise they are printed as the server sent them.
    package var isHumanReadable = false
    /// Whether colors and other escape sequences are used.
    package var hasColors = false
    /// Whether block characters are used.
    package var hasBlocks = false

    package init(isHumanReadable: Bool = false, hasColors: Bool = false, hasBlocks: Bool = false) {
        self.isHumanReadable = isHumanReadable
        self.hasColors = hasColors
        self.hasBlocks = hasBlocks
    }

    /// No formatting.
    package static let plain = Style()
    /// All capabilities.
    package static let full = Style(isHumanReadable: true, hasColors: true, hasBlocks: true)

    /// The capabilities of a descriptor. `NO_COLOR` (no-color.org) and `TERM=dumb` are respected.
    package static func of(_ descriptor: Int32) -> Style {
        guard System.isTerminal(descriptor) else { return .plain }
        let isDumb = System.variable("TERM").map { $0 == "dumb" } ?? true
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(System.variable).first ?? ""
        let code = locale.uppercased()
        return Style(
            isHumanReadable: true, hasColors: !isDumb && System.variable("NO_COLOR") == nil,
            hasBlocks: ["UTF-8", "UTF8"].contains { !code.occurrences(of: $0).isEmpty })
    }

    /// The meaning of a piece of text, which decides its color.
    package enum Role {
        case name, faint, text, number, word, marked, error

        fileprivate var code: String {
            switch self {
            case .name: "1"
            case .faint: "2"
            case .text: "32"
            case .number: "36"
            case .word: "35"
            case .marked: "1;33"
            case .error: "1;31"
            }
        }
    }

    /// The text with the escape sequences of its role.
    package func paint(_ text: String, _ role: Role) -> String {
        hasColors && !text.isEmpty ? "\u{1B}[\(role.code)m\(text)\u{1B}[0m" : text
    }
}

/// Measures text in terminal columns.
package enum TextWidth {
    /// Columns of a text without control characters.
    package static func of(_ text: String) -> Int {
        // Nearly all text is ASCII.
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + of($1) }
    }

    /// Columns of one character: two for East Asian wide ones and emoji, none for a lone mark.
    package static func of(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation { return 2 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default:
            let category = first.properties.generalCategory
            return category == .nonspacingMark || category == .enclosingMark || category == .format ? 0 : 1
        }
    }

    /// The text padded with spaces.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - of(text)))
    }
}

/// Formats the parts that the usage texts of both programs have.
package enum UsageText {
    /// Two columns.
    package static func table(_ rows: [(String, String)]) -> [String] {
        let width = rows.map { TextWidth.of($0.0) }.max() ?? 0
        return rows.map { "  \(TextWidth.padded($0.0, to: width))  \($0.1)" }
    }

    /// The examples and the exit codes, which come last.
    package static func end(
        examples: [(line: String, meaning: String)], exitCodes: [(ExitCode, String)]
    ) -> [String] {
        ["", "Examples:"] + examples.flatMap { ["  \($0.line)", "      \($0.meaning)"] }
            + ["", "Exit codes:"] + exitCodes.map { "  \($0.0.rawValue)  \($0.1)" }
    }
}
