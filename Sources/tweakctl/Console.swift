// Standard output and standard error, each in its own look.

import TweaksSystem
import Synchronization
import Tweaks

/// Where the program says things.
struct Console {
    let painter: Painter
    private let errorStyle: Style
    /// One JSON object a line: nothing is arranged.
    let isJSON: Bool

    init(isJSON: Bool) {
        self.isJSON = isJSON
        painter = Painter(style: isJSON ? .plain : Style.of(1))
        errorStyle = Style.of(2)
    }

    var style: Style { painter.style }

    /// Why something could not be written first; 0 while everything could.
    private static let failure = Atomic<Int32>(0)
    /// Whether something could not be written that somebody would have read.
    static var outputHasFailed: Bool { ![0, EPIPE, EBADF].contains(failure.load(ordering: .relaxed)) }
    /// Whether whoever read what is printed has gone.
    static var readerHasGone: Bool { failure.load(ordering: .relaxed) == EPIPE }
    /// Whether nobody ever will read what is printed.
    static var outputIsUnread: Bool { [EPIPE, EBADF].contains(failure.load(ordering: .relaxed)) }

    /// Lines on standard output. Where nobody reads them, or standard output was closed, that is no reason not to go on
    /// with what is asked for; what fails else, as on a full disk, is said once, and is a failure in the end.
    func print(_ lines: [String]) {
        if lines.isEmpty { return }
        var bytes: [UInt8] = []
        for line in lines {
            bytes.append(contentsOf: line.utf8)
            bytes.append(UInt8(ascii: "\n"))
        }
        if System.write(bytes, to: 1) { return }
        let code = errno
        let (isFirst, _) = Self.failure.compareExchange(expected: 0, desired: code, ordering: .relaxed)
        if !isFirst || !Self.outputHasFailed { return }
        complain("standard output: \(errorText(code)); what was to be printed is not complete, make room for it")
    }

    /// The body of a reply.
    func printBody(_ body: [String]) { print(painter.lines(body)) }

    /// An event of a watch.
    func printEvent(_ line: String) { print([painter.event(line)]) }

    /// A complaint on standard error. A token never gets there, wherever it came from.
    func complain(_ text: String) { tell(text, .error) }

    /// A remark on standard error, so that standard output stays what was asked for.
    func remark(_ text: String) { tell(text, .faint) }

    private func tell(_ text: String, _ role: Style.Role) {
        let line = "\(errorStyle.paint("tweakctl:", role)) \(Quoting.sanitized(Secrets.masked(text)))\n"
        System.write(Array(line.utf8), to: 2)
    }

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
