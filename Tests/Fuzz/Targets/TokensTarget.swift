// Token files: what is understood of them is written so that it is understood again, and half a file gives nothing new.

import Tweaks
import TweaksWire

/// The text of a token file. The first byte says where a writer was interrupted.
enum TokensTarget {
    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let text = Array(bytes.dropFirst())
        let file = TokenText(text)
        for problem in file.problems {
            try expect(Quoting.isSafe(problem.description), "an unsafe character in \(problem)")
        }
        for entry in file.table.entries {
            try expect(Self.entry(TokenText.line(entry)) == entry, "\(TokenText.line(entry)) says something else")
        }
        let directive = file.table.refusesPlain ? "\(TokenText.plainAuthOff)\n" : ""
        let written = directive + file.table.entries.map { TokenText.line($0) + "\n" }.joined()
        try expect(TokenText(Array(written.utf8)).table == file.table, "written and read: \(written)")
        for line in file.lines {
            let comment = TokenText(TokenText.comment(line.bytes) + [UInt8(ascii: "\n")])
            try expect(comment.table.entries.isEmpty && comment.problems.isEmpty, "a comment says something")
        }
        try judgeBeginning(Array(text.prefix(text.count * Int(choice) / 255)), of: file)
    }

    private static func entry(_ line: String) -> TokenEntry? {
        let entries = TokenText(Array("\(line)\n".utf8)).table.entries
        return entries.count == 1 ? entries[0] : nil
    }

    /// The beginning of a file gives no more than its whole lines do.
    private static func judgeBeginning(_ text: [UInt8], of whole: TokenText) throws(Finding) {
        for entry in TokenText(text).table.entries {
            let isThere = whole.lines.contains { TokenText($0.bytes + [UInt8(ascii: "\n")]).table.entries == [entry] }
            try expect(isThere, "half a file gives \(TokenText.line(entry))")
        }
    }
}
