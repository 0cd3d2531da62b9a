// The transcripts of Protocol.md and of the README, replayed against a server: the documents say what is true.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

extension DocumentedBlock {
    static let protocolDocument = all("transcript", of: "Sources/TweaksServer/TweaksServer.docc/Protocol.md")
    static let tokens = all("token-transcript", of: "Sources/TweaksServer/TweaksServer.docc/Protocol.md")
    static let actions = all("action-transcript", of: "Sources/TweaksServer/TweaksServer.docc/Protocol.md")
    static let readme = all("transcript", of: "README.md")
}

@Suite(.blocking)
struct ProtocolDocumentTests {
    @Test func hasTranscripts() {
        #expect(DocumentedBlock.protocolDocument.count >= 9)
        #expect(DocumentedBlock.readme.count == 1)
        #expect(!DocumentedBlock.tokens.isEmpty && !DocumentedBlock.actions.isEmpty)
    }

    /// The table has the usage of each command, as `help` shows it, and beside that what else can be written.
    @Test func hasTheTableOfCommands() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let file = root.appending(path: "Sources/TweaksServer/TweaksServer.docc/Protocol.md").standardizedFileURL
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let section = lines.drop { $0 != "## Commands" }.drop { !$0.hasPrefix("| `") }
        let usages = section.prefix { $0.hasPrefix("| `") }.flatMap { row in
            let cells = row.replacing("\\|", with: "\0").split(separator: "|")
            let parts = cells[0].split(separator: "`", omittingEmptySubsequences: false)
            let spans = parts.enumerated().filter { $0.offset % 2 == 1 }
            return spans.map { String($0.element.replacing("\0", with: "|")) }
        }
        let others = ["PATH = VALUE", "+=", "-=", "auth scram-sha-256 MESSAGE"]
        // It stands above the table.
        let commands = Command.all.filter { $0 != .help }.map(\.synopsis)
        #expect(usages.sorted() == (commands + others).sorted())
    }

    /// On TCP, where a token is asked for.
    @Test(arguments: DocumentedBlock.tokens) func isTrueOfTokens(_ block: DocumentedBlock) throws {
        let server = try AccessServer(.token("ops", "write:Content", .run))
        try Transcript(block.text).replay(.inTurn, with: server.connectTCP())
    }

    @Test(arguments: DocumentedBlock.protocolDocument) func isTrue(_ block: DocumentedBlock) throws {
        let transcript = Transcript(block.text)
        #expect(!transcript.steps.isEmpty)
        try transcript.replay(.inTurn, with: TestServer().connect())
    }

    /// With an action that declares its arguments.
    @Test(arguments: DocumentedBlock.actions) func isTrueOfActions(_ block: DocumentedBlock) throws {
        let registry = TweakRegistry()
        tweakAction(
            "Player", "Audio", "Play",
            arguments: [
                .init("file", .string), .init("volume", .number, in: 0...1, default: 0.5),
                .init("mode", choices: ["once", "loop"], default: "once"),
            ], registry: registry
        ) { arguments in
            let (file, volume): (String, Double) = (try arguments["file"], try arguments["volume"])
            return "playing \(file) at \(volume)"
        }
        try Transcript(block.text).replay(.inTurn, with: TestServer(registry: registry).connect())
    }

    /// With just the two tweaks that the README declares.
    @Test(arguments: DocumentedBlock.readme) func readmeIsTrue(_ block: DocumentedBlock) throws {
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
