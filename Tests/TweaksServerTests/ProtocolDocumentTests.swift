// The transcripts of Protocol.md and of the README, replayed against a server: the documents say what is true.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

/// One fenced block of the document.
struct DocumentedTranscript: Sendable, CustomTestStringConvertible {
    let text: String
    let document: String
    /// Where it begins in the document.
    let line: Int

    var testDescription: String { "\(document) line \(line)" }

    static let protocolDocument = transcripts(of: "Sources/TweaksServer/TweaksServer.docc/Protocol.md")
    static let readme = transcripts(of: "README.md")

    /// All blocks that are marked as transcripts, of a document found from this file.
    private static func transcripts(of path: String) -> [DocumentedTranscript] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../" + path)
        guard let document = try? String(contentsOf: file.standardizedFileURL, encoding: .utf8) else { return [] }
        var blocks: [DocumentedTranscript] = []
        var open: (lines: [String], line: Int)?
        for (number, line) in document.splitLines().enumerated() {
            if line.hasPrefix("```") {
                if let open {
                    blocks.append(.init(text: open.lines.joined(separator: "\n"), document: path, line: open.line))
                }
                open = open == nil && line == "```transcript" ? ([], number + 1) : nil
            } else {
                open?.lines.append(line)
            }
        }
        return blocks
    }
}

@Suite(.blocking)
struct ProtocolDocumentTests {
    @Test func hasTranscripts() {
        #expect(DocumentedTranscript.protocolDocument.count >= 9)
        #expect(DocumentedTranscript.readme.count == 1)
    }

    @Test(arguments: DocumentedTranscript.protocolDocument) func isTrue(_ block: DocumentedTranscript) throws {
        let transcript = Transcript(block.text)
        #expect(!transcript.steps.isEmpty)
        try transcript.replay(.inTurn, with: TestServer().connect())
    }

    /// With just the two tweaks that the README declares.
    @Test(arguments: DocumentedTranscript.readme) func readmeIsTrue(_ block: DocumentedTranscript) throws {
        let registry = TweakRegistry()
        _ = Tweak(
            "Content", "Text", "Size", 60.0, in: 10...100, step: 0.5, unit: "pt", help: "Label size",
            registry: registry)
        _ = Tweak("Content", "Text", "Color", TweakColor.black, registry: registry)
        let transcript = Transcript(block.text)
        #expect(!transcript.steps.isEmpty)
        try transcript.replay(.inTurn, with: TestServer(registry: registry).connect())
    }
}
