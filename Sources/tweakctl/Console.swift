// Prints answers of processes on standard output and errors on standard error.

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
    func printBody(_ body: [String]) { print(formatter.lines(body)) }

    /// Prints an event of a watch.
    func printEvent(_ line: String) { print([formatter.event(line)]) }

    /// Prints an error or a warning on standard error.
    func reportProblem(_ text: String) { output.reportProblem(text) }

    /// Prints a remark on standard error, so that standard output holds the requested data only.
    func printRemark(_ text: String) { output.printRemark(text) }

    /// Asks for confirmation, on a terminal.
    func confirm(_ question: String) throws(Failure) -> Bool { try output.confirm(question, isYes: false) }

    /// Prints an answer: its body, and the reason if it was refused. In JSON that is one object.
    /// - Parameter place: The line of the request in a script.
    func report(_ answer: Answer, place: String? = nil) {
        // A refusal before the session switched to JSON is plain text.
        if answer.status.hasPrefix("{") || isJSON && !answer.isRefusal {
            print(answer.body + [answer.status])
            return
        }
        printBody(answer.body)
        if !answer.isRefusal { return reportWords(answer.status) }
        reportProblem((place.map { "\($0): " } ?? "") + ReplyFormatter.refusal(answer.status))
    }

    /// The words after `ok rev N`, if they are more than a keyword.
    static func additionalText(_ status: String) -> String? {
        var words = status.split(separator: " ").dropFirst()
        if words.first == "rev" { words = words.dropFirst(2) }
        if words.count < 2 || words.first == "watching" { return nil }
        if words.contains("unsaved:") || words.contains("unaudited:") { return nil }
        return words.joined(separator: " ")
    }

    /// Prints further words of an `ok`: a change that could not be saved is an error on standard error.
    private func reportWords(_ status: String) {
        for (mark, what) in [(" unaudited: ", "not in the audit"), (" unsaved: ", "not saved")] {
            guard let reason = status.firstRange(of: mark) else { continue }
            return reportProblem("in effect, but \(what): \(status[reason.upperBound...])")
        }
        // `undid 43 by uid 1000`, `best 100, 50 more`: facts that the body does not show.
        if style.isHumanReadable, let remark = Self.additionalText(status) {
            print([style.paint("# \(remark)", .faint)])
        }
    }
}
