// Tests of diffs: git applies each of them, and gets the same file.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksBake

/// A file and the edits in it: each replaces the text that is given by another.
struct DiffCase: CustomTestStringConvertible, Sendable {
    let name: String
    let text: String
    let edits: [SourceEdit]

    init(_ name: String, _ text: String, _ replacements: (String, String)...) {
        self.name = name
        self.text = text
        edits = replacements.compactMap { old, new in
            text.utf8.firstRange(of: old.utf8).map { found in
                let start = text.utf8.distance(from: text.startIndex, to: found.lowerBound)
                return SourceEdit(range: start..<start + old.utf8.count, text: new)
            }
        }
    }

    var testDescription: String { name }

    static let long = (1...40).map { "line \($0);\n" }.joined()

    static let all = [
        DiffCase("one line", "a 1 b\n", ("1", "2")), DiffCase("the first line", long, ("line 1;", "x")),
        DiffCase("the last line", long, ("line 40;", "x")),
        DiffCase("two in a line", "a 1 b 2\n", ("1", "3"), ("2", "4")),
        DiffCase("neighbors", long, ("line 7;", "x"), ("line 8;", "y")),
        DiffCase("one hunk", long, ("line 7;", "x"), ("line 14;", "y")),
        DiffCase("two hunks", long, ("line 7;", "x"), ("line 15;", "y")),
        DiffCase("more lines", long, ("line 7;", "x\ny\nz"), ("line 20;", "y"), ("line 39;", "a\nb")),
        DiffCase("fewer lines", long, ("line 7;\nline 8;\nline 9;", "x"), ("line 30;", "y")),
        DiffCase("a line that is inserted", long, ("line 7;\n", "line 7;\nx\n")),
        DiffCase("a line that is removed", long, ("line 7;\n", "")),
        DiffCase("a part of a block", long, ("7;\nline 8;\nline 9", "7;\nx\nline 9")),
        DiffCase("no line end at the end", "a\nb 1", ("1", "2")),
        DiffCase("no line end near the end", "a 1\nb", ("1", "2")),
        DiffCase("CR LF", "a\r\nb 1\r\nc\r\n", ("1", "2\r\n3")),
        DiffCase("a byte order mark", "\u{FEFF}a 1\nb\n", ("1", "2")),
        DiffCase("everything", "a", ("a", "b")), DiffCase("blanks at the end", "a 1  \n\t\n", ("1", "2")),
        DiffCase("lines like headers", "--- a\n+++ b 1\n@@ -1 +1 @@\n", ("1", "2")),
    ]
}

@Suite(.blocking) struct DiffTests {
    private static let hasGit = ["/usr/bin/git", "/usr/local/bin/git"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.tags(.process), .enabled(if: hasGit), arguments: DiffCase.all, ["Look.swift", "a b/\"é\"\\x.swift"])
    func gitAppliesIt(_ item: DiffCase, _ path: String) throws {
        let directory = try TemporaryDirectory()
        if path.contains("/") { try directory.makeFolder("a b") }
        try directory.write(item.text, to: path)
        let diff = UnifiedDiff(Array(item.text.utf8), item.edits).text(path).map { $0 + "\n" }.joined()
        let result = try Tool.sh.run(
            ["-c", "cd '\(directory.path)' && git apply --check - 2>&1 && echo fine"], input: diff)
        #expect(result.hasSuffix("fine\n"), "\(result) \(diff)")
        _ = try Tool.sh.run(["-c", "cd '\(directory.path)' && git apply -"], input: diff)
        let expected = SourceEdit.apply(item.edits, to: Array(item.text.utf8)).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(directory.read(path) == expected)
    }

    @Test func itIsUnified() {
        let item = DiffCase("", DiffCase.long, ("line 7;", "x\ny"), ("line 8;", "z"), ("line 39;", "w"))
        #expect(
            UnifiedDiff(Array(item.text.utf8), item.edits).text("Look.swift") == [
                "--- a/Look.swift", "+++ b/Look.swift", "@@ -4,8 +4,9 @@", " line 4;", " line 5;", " line 6;",
                "-line 7;",
                "+x", "+y", "-line 8;", "+z", " line 9;", " line 10;", " line 11;", "@@ -36,5 +37,5 @@", " line 36;",
                " line 37;", " line 38;", "-line 39;", "+w", " line 40;",
            ])
    }

    @Test func noEditIsNoDiff() {
        #expect(UnifiedDiff([], []).text("a") == [])
        #expect(UnifiedDiff(Array("a\n".utf8), [SourceEdit(range: 0..<1, text: "a")]).text("a") == [])
    }

    @Test func editsThatOverlapAreRefused() {
        let edits = [SourceEdit(range: 0..<2, text: "x"), SourceEdit(range: 1..<3, text: "y")]
        #expect(SourceEdit.apply(edits, to: Array("abcd".utf8)) == nil)
    }
}
