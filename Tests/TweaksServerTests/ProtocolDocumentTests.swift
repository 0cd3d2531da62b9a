// The transcripts of Protocol.md, replayed against a server: the document says what is true.

import Foundation
import Testing
import TweaksTestSupport

/// One fenced block of the document.
struct DocumentedTranscript: Sendable, CustomTestStringConvertible {
    let text: String
    /// Where it begins in the document.
    let line: Int

    var testDescription: String { "Protocol.md line \(line)" }

    /// The document, found from this file.
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/TweaksServer/TweaksServer.docc/Protocol.md").standardizedFileURL

    static var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// All blocks that are marked as transcripts.
    static let all: [DocumentedTranscript] = {
        guard let document = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        var blocks: [DocumentedTranscript] = []
        var open: (lines: [String], line: Int)?
        for (number, line) in document.splitLines().enumerated() {
            if line.hasPrefix("```") {
                if let open { blocks.append(.init(text: open.lines.joined(separator: "\n"), line: open.line)) }
                open = open == nil && line == "```transcript" ? ([], number + 1) : nil
            } else {
                open?.lines.append(line)
            }
        }
        return blocks
    }()
}

@Suite(.blocking, .enabled(if: DocumentedTranscript.exists, "Protocol.md is not written yet"))
struct ProtocolDocumentTests {
    @Test func hasTranscripts() { #expect(!DocumentedTranscript.all.isEmpty) }

    @Test(arguments: DocumentedTranscript.all) func isTrue(_ block: DocumentedTranscript) throws {
        let transcript = Transcript(block.text)
        #expect(!transcript.steps.isEmpty)
        try transcript.replay(.inTurn, with: TestServer().connect())
    }
}
