// Writes to standard output and standard error, each in its own look.

import Synchronization
import Tweaks
import TweaksSystem

/// Where a command-line program says things.
package struct Output: Sendable {
    /// The program's name, before what it complains of.
    package let program: String
    /// How standard output looks.
    package let style: Style
    private let errorStyle: Style
    /// Takes secrets out of what goes to standard error.
    private let masked: @Sendable (String) -> String
    private let sink: (@Sendable (String) -> Void)?

    /// - Parameters:
    ///   - isJSON: One JSON object a line: nothing is arranged.
    ///   - sink: What takes all lines, in place of the standard streams.
    package init(
        program: String, isJSON: Bool, masked: @escaping @Sendable (String) -> String = { $0 },
        sink: (@Sendable (String) -> Void)? = nil
    ) {
        (self.program, self.masked, self.sink) = (program, masked, sink)
        style = isJSON || sink != nil ? .plain : Style.of(1)
        errorStyle = sink != nil ? .plain : Style.of(2)
    }

    /// Why something could not be written first; 0 while everything could.
    private static let failure = Atomic<Int32>(0)
    /// Whether something could not be written that somebody would have read.
    package static var hasFailed: Bool { ![0, EPIPE, EBADF].contains(failure.load(ordering: .relaxed)) }
    /// Whether whoever read what is printed has gone.
    package static var readerHasGone: Bool { failure.load(ordering: .relaxed) == EPIPE }
    /// Whether nobody ever will read what is printed.
    package static var isUnread: Bool { [EPIPE, EBADF].contains(failure.load(ordering: .relaxed)) }

    /// Lines on standard output. Where nobody reads them, or standard output was closed, that is no reason not to go on
    /// with what is asked for; what fails else, as on a full disk, is said once, and is a failure in the end.
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
        complain("standard output: \(errorText(code)); what was to be printed is not complete, make room for it")
    }

    /// A complaint on standard error.
    package func complain(_ text: String) { tell(text, .error) }

    /// A remark on standard error, so that standard output stays what was asked for.
    package func remark(_ text: String) { tell(text, .faint) }

    private func tell(_ text: String, _ role: Style.Role) {
        let line = "\(errorStyle.paint("\(program):", role)) \(Quoting.sanitized(masked(text)))"
        if let sink { return sink(line) }
        System.write(Array("\(line)\n".utf8), to: 2)
    }
}
