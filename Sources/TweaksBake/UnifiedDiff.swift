// Prints edits of a file as a unified diff that git and patch apply.

import Tweaks

/// The unified diff of one file.
struct UnifiedDiff {
    private static let context = 3

    /// Lines that are replaced by others.
    private struct Change {
        /// Positions of old lines.
        var old: Range<Int>
        var new: [ArraySlice<UInt8>]
    }

    /// The old lines, with their line ends.
    private let lines: [ArraySlice<UInt8>]
    private let changes: [Change]

    /// - Parameter edits: Edits that do not overlap.
    init(_ bytes: [UInt8], _ edits: [SourceEdit]) {
        lines = Self.lines(bytes[...])
        var starts: [Int] = []
        for line in lines { starts.append(line.startIndex) }
        var changes: [Change] = []
        var pending: [SourceEdit] = []
        var range = 0..<0
        for edit in SourceEdit.sorted(edits) {
            let first = Self.line(of: edit.range.lowerBound, starts)
            let end = Self.line(of: edit.range.upperBound, starts) + 1
            if !pending.isEmpty, first >= range.upperBound {
                changes.append(Self.change(range, pending, lines))
                pending = []
            }
            range = pending.isEmpty ? first..<end : range.lowerBound..<max(range.upperBound, end)
            pending.append(edit)
        }
        if !pending.isEmpty { changes.append(Self.change(range, pending, lines)) }
        self.changes = changes.filter { !($0.old.isEmpty && $0.new.isEmpty) }
    }

    /// The lines of the diff, without their line ends; a file without a change has none.
    /// - Parameter path: The path in its header.
    func text(_ path: String) -> [String] {
        if changes.isEmpty { return [] }
        let path = path.drop { $0 == "/" }
        var result = ["--- \(Self.name("a/\(path)"))", "+++ \(Self.name("b/\(path)"))"]
        var rest = changes[...]
        var shift = 0
        while let first = rest.popFirst() {
            var hunk = [first]
            while let next = rest.first, next.old.lowerBound - hunk[hunk.count - 1].old.upperBound <= 2 * Self.context {
                hunk.append(next)
                rest.removeFirst()
            }
            result += text(of: hunk, shift: shift)
            shift += hunk.reduce(0) { $0 + $1.new.count - $1.old.count }
        }
        return result
    }

    // MARK: Hunks

    private func text(of hunk: [Change], shift: Int) -> [String] {
        let start = max(0, hunk[0].old.lowerBound - Self.context)
        let end = min(lines.count, hunk[hunk.count - 1].old.upperBound + Self.context)
        let growth = hunk.reduce(0) { $0 + $1.new.count - $1.old.count }
        var result = ["@@ -\(Self.span(start, end - start)) +\(Self.span(start + shift, end - start + growth)) @@"]
        var position = start
        for change in hunk {
            for line in lines[position..<change.old.lowerBound] { result += Self.shown(line, " ") }
            for line in lines[change.old] { result += Self.shown(line, "-") }
            for line in change.new { result += Self.shown(line, "+") }
            position = change.old.upperBound
        }
        for line in lines[position..<end] { result += Self.shown(line, " ") }
        return result
    }

    /// The first line and the number of lines, which is left out if it is 1.
    private static func span(_ start: Int, _ count: Int) -> String {
        let first = count == 0 ? start : start + 1
        return count == 1 ? "\(first)" : "\(first),\(count)"
    }

    private static func shown(_ line: ArraySlice<UInt8>, _ mark: String) -> [String] {
        let isWhole = line.last == UInt8(ascii: "\n")
        let text = mark + String(decoding: isWhole ? line.dropLast() : line, as: UTF8.self)
        return isWhole ? [text] : [text, "\\ No newline at end of file"]
    }

    /// A path as git writes it: in quotes if it has a quote or a control character, with a tab after it if it has a blank.
    private static func name(_ path: String) -> String {
        let needsQuotes = path.utf8.contains {
            $0 < 0x20 || $0 == 0x7F || [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains($0)
        }
        guard needsQuotes else { return path.utf8.contains(UInt8(ascii: " ")) ? path + "\t" : path }
        var result = "\""
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += "\\" + String(Unicode.Scalar(byte))
            case 0..<0x20, 0x7F...:
                let digits = String(byte, radix: 8)
                result += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            default: result.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return result + "\""
    }

    // MARK: Changes

    /// The lines that the edits touch, without those that stay the same at the ends.
    private static func change(_ range: Range<Int>, _ edits: [SourceEdit], _ lines: [ArraySlice<UInt8>]) -> Change {
        let old = lines[range]
        let start = old.first?.startIndex ?? 0
        let moved = edits.map { edit in
            SourceEdit(range: edit.range.lowerBound - start..<edit.range.upperBound - start, text: edit.text)
        }
        let bytes = SourceEdit.apply(moved, to: Array(old.joined())) ?? []
        var change = Change(old: range, new: Self.lines(bytes[...]))
        while let first = change.new.first, !change.old.isEmpty, first == lines[change.old.lowerBound] {
            change.old.removeFirst()
            change.new.removeFirst()
        }
        while let last = change.new.last, !change.old.isEmpty, last == lines[change.old.upperBound - 1] {
            change.old.removeLast()
            change.new.removeLast()
        }
        return change
    }

    private static func lines(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.endIndex
            lines.append(bytes[start..<end])
            start = end
        }
        return lines
    }

    /// The line that a position is in.
    private static func line(of position: Int, _ starts: [Int]) -> Int {
        var low = 0
        var high = starts.count
        while low + 1 < high {
            let middle = (low + high) / 2
            if starts[middle] <= position { low = middle } else { high = middle }
        }
        return low
    }
}
