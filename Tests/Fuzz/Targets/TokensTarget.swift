// Fuzzes token files: entries survive a round trip, and a truncated file gives no new entries.

import Tweaks
import TweaksWire

/// The text of a token file. The first byte selects where it is truncated.
enum TokensTarget {
    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let text = Array(bytes.dropFirst())
        let file = TokenText(text)
        for problem in file.problems {
            try expect(Quoting.isSafe(problem.description), "an unsafe character in \(problem)")
        }
        for entry in file.table.entries {
            try expect(Self.entry(TokenText.line(entry)) == entry, "\(TokenText.line(entry)) is read as another entry")
        }
        let directive = file.table.refusesPlain ? "\(TokenText.plainAuthOff)\n" : ""
        let written = directive + file.table.entries.map { TokenText.line($0) + "\n" }.joined()
        try expect(TokenText(Array(written.utf8)).table == file.table, "written and read: \(written)")
        for line in file.lines {
            let comment = TokenText(TokenText.comment(line.bytes) + [UInt8(ascii: "\n")])
            try expect(comment.table.entries.isEmpty && comment.problems.isEmpty, "a comment has an effect")
        }
        try checkBeginning(Array(text.prefix(text.count * Int(choice) / 255)), of: file)
    }

    private static func entry(_ line: String) -> TokenEntry? {
        let entries = TokenText(Array("\(line)\n".utf8)).table.entries
        return entries.count == 1 ? entries[0] : nil
    }

    /// The beginning of a file gives no entries but those of its whole lines.
    private static func checkBeginning(_ text: [UInt8], of whole: TokenText) throws(Finding) {
        for entry in TokenText(text).table.entries {
            let isThere = whole.lines.contains { TokenText($0.bytes + [UInt8(ascii: "\n")]).table.entries == [entry] }
            try expect(isThere, "a truncated file gives \(TokenText.line(entry))")
        }
    }
}
