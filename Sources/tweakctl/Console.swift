// Shows answers of processes on standard output, and what goes wrong on standard error.

import Tweaks
import TweaksTerminal

/// Where the program says things.
struct Console {
    let painter: Painter
    private let output: Output
    /// One JSON object a line: nothing is arranged.
    let isJSON: Bool

    init(isJSON: Bool) {
        self.isJSON = isJSON
        // A token never gets to standard error, wherever it came from.
        output = Output(program: "tweakctl", isJSON: isJSON, masked: { Secrets.masked($0) })
        painter = Painter(style: output.style)
    }

    var style: Style { painter.style }

    /// Whether something could not be written that somebody would have read.
    static var outputHasFailed: Bool { Output.hasFailed }
    /// Whether whoever read what is printed has gone.
    static var readerHasGone: Bool { Output.readerHasGone }
    /// Whether nobody ever will read what is printed.
    static var outputIsUnread: Bool { Output.isUnread }

    /// Lines on standard output.
    func print(_ lines: [String]) { output.print(lines) }

    /// The body of a reply.
    func printBody(_ body: [String]) { print(painter.lines(body)) }

    /// An event of a watch.
    func printEvent(_ line: String) { print([painter.event(line)]) }

    /// A complaint on standard error.
    func complain(_ text: String) { output.complain(text) }

    /// A remark on standard error, so that standard output stays what was asked for.
    func remark(_ text: String) { output.remark(text) }

    /// A whole answer: its body, and why it was refused, if it was. In JSON that is one object.
    /// - Parameter place: Where the request stood in a script.
    func report(_ answer: Answer, place: String? = nil) {
        // A refusal that came before both sides were agreed on JSON is none.
        if answer.status.hasPrefix("{") || isJSON && !answer.isRefusal {
            print(answer.body + [answer.status])
            return
        }
        printBody(answer.body)
        if !answer.isRefusal { return reportWords(answer.status) }
        complain((place.map { "\($0): " } ?? "") + Painter.refusal(answer.status))
    }

    /// The words behind `ok rev N` that are more than a keyword.
    static func remark(_ status: String) -> String? {
        var words = status.split(separator: " ").dropFirst()
        if words.first == "rev" { words = words.dropFirst(2) }
        if words.count < 2 || words.contains("unsaved:") || words.first == "watching" { return nil }
        return words.joined(separator: " ")
    }

    /// What an `ok` says beyond that: a change that could not be saved is worth a line.
    private func reportWords(_ status: String) {
        if let unsaved = status.firstRange(of: " unsaved: ") {
            complain("in effect, but not saved: \(status[unsaved.upperBound...])")
        }
        // `undid 43 by uid 1000`, `best 100, 50 more`; without it people would not know whose change it was.
        if style.isForPeople, let remark = Self.remark(status) { print([style.paint("# \(remark)", .faint)]) }
    }
}
