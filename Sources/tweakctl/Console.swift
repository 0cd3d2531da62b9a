// Prints answers of processes on standard output, formatted on a terminal, and errors on standard error.

import Tweaks
import TweaksSystem

/// The output of tweakctl.
struct Console {
    let formatter: ReplyFormatter
    private let output: Output
    /// Whether output is one JSON object a line, which is never formatted.
    let isJSON: Bool

    init(isJSON: Bool) {
        self.isJSON = isJSON
        // Tokens are masked on standard error, wherever they came from.
        output = Output(program: "tweakctl", isJSON: isJSON, masked: { Secrets.masked($0) })
        formatter = ReplyFormatter(style: output.style)
    }

    var style: Style { formatter.style }

    /// Whether a write failed although standard output still has a reader.
    static var outputHasFailed: Bool { Output.hasFailed }
    /// Whether the reader of standard output has closed it.
    static var readerHasGone: Bool { Output.readerHasGone }
    /// Whether standard output has no reader.
    static var outputIsUnread: Bool { Output.hasNoReader }

    /// Prints lines on standard output.
    func print(_ lines: [String]) { output.print(lines) }

    /// Prints the body of a reply.
    func printBody(_ answer: Answer) { print(formatter.lines(answer)) }

    /// Prints the bodies of several replies in common columns.
    func printChanges(_ answers: [Answer]) {
        let tweaks = JSON.array(answers.flatMap(\.tweaks))
        let body = answers.flatMap(\.body)
        printBody(Answer(body: body, status: "", isRefusal: false, fields: .object([("tweaks", tweaks)])))
    }

    /// Prints an event of a watch.
    func printEvent(_ line: String) { print([formatter.event(line)]) }

    /// Prints an error or a warning on standard error.
    func reportProblem(_ text: String) { output.reportProblem(text) }

    /// Prints the error that ends the program; in JSON also as an object on standard output.
    func report(_ failure: Failure) { output.report(failure) }

    /// Prints a remark on standard error, so that standard output holds the requested data only.
    func printRemark(_ text: String) { output.printRemark(text) }

    /// Asks for confirmation, on a terminal.
    func confirm(_ question: String) throws(Failure) -> Bool { try output.confirm(question, isYes: false) }

    /// Prints an answer: its body, and the reason if it was refused. In JSON that is one object.
    /// - Parameters:
    ///   - request: The line that it answers, if the effect of a change is to be told even where nothing changed.
    ///   - place: The line of the request in a script.
    func report(_ answer: Answer, to request: String? = nil, place: String? = nil) {
        // A refusal before the session switched to JSON is plain text.
        if answer.status.hasPrefix("{") || isJSON && !answer.isRefusal { return print(answer.body + [answer.status]) }
        printBody(answer)
        if answer.isRefusal { output.printRefusal(answer.errorCode?.rawValue ?? "refused", answer.reason) }
        if answer.isRefusal { return reportProblem((place.map { "\($0): " } ?? "") + answer.complaint) }
        if let warning = answer.warning { return reportProblem(warning) }
        // `undid 43 by uid 1000`, `best 100, 50 more`: facts that the body does not show.
        let emptiness = style.isHumanReadable ? request.flatMap(answer.emptiness) : nil
        guard let remark = request.flatMap(answer.inaction) ?? answer.remark ?? emptiness else { return }
        if style.isHumanReadable {
            print([style.paint("# \(remark)", .faint)])
        } else if answer.lacksFields || request.map({ !CommandText.onlyReads($0) }) ?? false {
            // It tells what was done, or may be a warning.
            printRemark(remark)
        }
    }
}

/// Formats the replies and events of a server.
struct ReplyFormatter {
    let style: Style
    /// The current time, in milliseconds since 1970.
    var now: @Sendable () -> Int64 = { Expiry.now }

    /// The column widths of a block; wider cells are not aligned.
    private struct Columns {
        var path = 0
        var value = 0
        /// Whether any line of the block has a mark or a bar.
        var hasMarks = false
        var hasBars = false
    }

    /// A line that shows a tweak, and what its fields say about it.
    private struct Row {
        let row: TweakRow
        let tweak: EditorTweak?

        var isModified: Bool { tweak?.isModified ?? false }
        var fraction: Double? { tweak?.fraction }
        var color: TweakColor? { tweak?.color }
    }

    /// Formats the body of one reply. The lines that show tweaks are in the order of its list.
    func lines(_ answer: Answer) -> [String] {
        guard style.isHumanReadable else { return answer.body }
        let now = ContinuousClock.now
        var tweaks = answer.tweaks.map { EditorTweak($0, now: now) }[...]
        let rows = answer.body.map { line in
            TweakRow(line).map { Row(row: $0, tweak: tweaks.popFirst() ?? nil) }
        }
        var columns = Columns()
        for row in rows {
            guard let row else { continue }
            let path = TextWidth.of(row.row.path)
            let value = width(row)
            if path <= 48 { columns.path = max(columns.path, path) }
            if value <= 24 { columns.value = max(columns.value, value) }
            columns.hasMarks = columns.hasMarks || row.isModified
            columns.hasBars = columns.hasBars || row.fraction != nil
        }
        return zip(answer.body, rows).map { line, row in row.map { self.line($0, columns) } ?? text(line) }
    }

    /// The width of a value with its swatch.
    private func width(_ row: Row) -> Int { TextWidth.of(row.row.value) + (row.color == nil ? 0 : swatchWidth) }

    /// Formats one event.
    func event(_ line: String) -> String {
        guard style.isHumanReadable else { return line }
        guard let row = TweakRow(line) else { return style.paint(line, .faint) }
        return style.paint("rev \(row.revision ?? "?")", .faint) + "  "
            + self.line(Row(row: row, tweak: nil), Columns())
    }

    // MARK: Rows

    private func line(_ row: Row, _ columns: Columns) -> String {
        var result = ""
        if columns.hasMarks {
            result += row.isModified ? style.paint(style.hasBlocks ? "●" : "*", .marked) + " " : "  "
        }
        result += path(row.row.path)
        result += String(repeating: " ", count: max(0, columns.path - TextWidth.of(row.row.path)))
        result += style.paint(" = ", .faint)
        result += row.color.map(swatch) ?? ""
        result += value(row.row.value, isColor: row.color != nil)
        if row.row.note.isEmpty { return result }
        result += String(repeating: " ", count: max(0, columns.value - width(row))) + "  "
        if columns.hasBars { result += bar(row.fraction) + "  " }
        return result + style.paint("# " + row.row.note, .faint)
    }

    /// The path with category and collection fainter than the name.
    private func path(_ path: String) -> String {
        guard style.hasColors, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        let split = path.utf8.index(after: slash)
        return style.paint(String(path[..<split]), .faint) + style.paint(String(path[split...]), .name)
    }

    private func value(_ text: String, isColor: Bool) -> String {
        if isColor { return text }
        let role: Style.Role
        switch text.first {
        case "\"": role = .text
        case let first? where first == "-" || first.isNumber: role = .number
        case "(": role = .faint
        default: role = .word
        }
        return style.paint(text, role)
    }

    private var swatchWidth: Int { style.hasColors ? 3 : 0 }

    /// The color on a black background, as far as it is transparent.
    private func swatch(_ color: TweakColor) -> String {
        guard style.hasColors else { return "" }
        let parts = [color.red8, color.green8, color.blue8].map { String(Int($0) * Int(color.alpha8) / 255) }
        return "\u{1B}[48;2;\(parts.joined(separator: ";"))m  \u{1B}[0m "
    }

    /// Eight cells; in ASCII where there are no block characters.
    private func bar(_ fraction: Double?) -> String {
        guard let fraction else { return String(repeating: " ", count: 8) }
        let filled = Int((fraction * 8).rounded())
        let (full, empty) = style.hasBlocks ? ("█", "░") : ("#", "-")
        return style.paint(String(repeating: full, count: filled), .number)
            + style.paint(String(repeating: empty, count: 8 - filled), .faint)
    }

    // MARK: Other lines

    /// Highlights the winning layer of `explain`, and shows ages in place of timestamps, which are harder to read.
    private func text(_ line: String) -> String {
        let line = Age.inWords(line, now: now())
        return line.hasPrefix("  → ") ? style.paint(line, .name) : line
    }
}

/// `PATH = VALUE # note`, the form of tweaks in replies and events.
struct TweakRow: Equatable {
    /// The path as sent, with quotes where it has some.
    var path: String
    var value: String
    /// Without the `# ` before it.
    var note = ""
    /// The revision of an event.
    var revision: String?

    /// Nil for a line of another form.
    init?(_ line: String) {
        var rest = line[...]
        if rest.hasPrefix("event ") {
            let words = rest.split(separator: " ", maxSplits: 2)
            guard words.count == 3 else { return nil }
            revision = String(words[1])
            rest = words[2]
        }
        guard let path = Self.parseToken(&rest), rest.hasPrefix("= ") else { return nil }
        rest = rest.dropFirst(2)
        guard let value = Self.parseToken(&rest) else { return nil }
        self.path = path
        self.value = value
        if rest.hasPrefix("# ") { note = String(rest.dropFirst(2)) } else if !rest.isEmpty { return nil }
    }

    /// Consumes a token with its quotes, and the spaces after it.
    private static func parseToken(_ rest: inout Substring) -> String? {
        let isQuoted = rest.utf8.first == UInt8(ascii: "\"")
        if rest.utf8.first == UInt8(ascii: "["), let end = ListText.end(Array(rest.utf8), from: 0),
            let list = String(rest.utf8.prefix(end)), [nil, UInt8(ascii: " ")].contains(rest.utf8.dropFirst(end).first)
        {
            rest = rest.dropFirst(list.count).drop { $0 == " " }
            return list
        }
        var end = rest.utf8.startIndex
        var isEscaped = false
        while end < rest.utf8.endIndex {
            let byte = rest.utf8[end]
            if !isQuoted, byte == UInt8(ascii: " ") { break }
            rest.utf8.formIndex(after: &end)
            if isQuoted, byte == UInt8(ascii: "\""), !isEscaped, end > rest.utf8.index(after: rest.startIndex) { break }
            isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
        }
        guard end > rest.startIndex else { return nil }
        let token = String(rest[..<end])
        rest = rest[end...].drop { $0 == " " }
        return token
    }
}
