// Standard output and standard error, each in its own look.

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

    private static let hasFailed = Atomic(false)
    /// Whether something could not be written that somebody would have read.
    static var outputHasFailed: Bool { hasFailed.load(ordering: .relaxed) }

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
        let code = System.lastError
        if System.isUnread(code) || Self.hasFailed.exchange(true, ordering: .relaxed) { return }
        complain("standard output: \(System.errorText(code)); what was to be printed is not complete, make room for it")
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
        if isJSON || answer.status.hasPrefix("{") {
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
