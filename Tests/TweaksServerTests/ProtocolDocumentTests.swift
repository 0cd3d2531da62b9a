// The transcripts of Protocol.md and of the README, replayed against a server: the documents say what is true.

import Testing
import Tweaks
import TweaksTestSupport

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
