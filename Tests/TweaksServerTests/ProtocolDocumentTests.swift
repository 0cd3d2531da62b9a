// Replays the transcripts of Protocol.md against servers, so that the document stays true.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct ProtocolDocumentTests {
    private static let document = "Sources/TweaksServer/TweaksServer.docc/Protocol.md"
    private static let transcripts = DocumentedBlock.all("transcript", of: document)
    private static let tokenTranscripts = DocumentedBlock.all("token-transcript", of: document)
    private static let actionTranscripts = DocumentedBlock.all("action-transcript", of: document)

    @Test func theDocumentHasTranscripts() {
        #expect(Self.transcripts.count >= 9)
        #expect(!Self.tokenTranscripts.isEmpty && !Self.actionTranscripts.isEmpty)
        #expect(Self.transcripts.allSatisfy { !Transcript($0.text).steps.isEmpty })
    }

    /// With the usage of each command, as `help` shows it, and the other forms of lines.
    @Test func theTableHasEveryCommand() throws {
        let lines = try Document(Self.document).text.split(separator: "\n")
        let section = lines.drop { $0 != "## Commands" }.drop { !$0.hasPrefix("| `") }
        let usages = section.prefix { $0.hasPrefix("| `") }.flatMap { row in
            let cells = row.replacing("\\|", with: "\0").split(separator: "|")
            let parts = cells[0].split(separator: "`", omittingEmptySubsequences: false)
            let spans = parts.enumerated().filter { $0.offset % 2 == 1 }
            return spans.map { String($0.element.replacing("\0", with: "|")) }
        }
        let others = ["PATH = VALUE", "+=", "-=", "auth scram-sha-256 MESSAGE"]
        // `help` is described above the table.
        let commands = Command.all.filter { $0 != .help }.map(\.synopsis)
        #expect(usages.sorted() == (commands + others).sorted())
    }

    @Test(arguments: transcripts) func transcriptsAreTrue(_ block: DocumentedBlock) throws {
        var hooks = TweakServerHooks()
        hooks.previews = block.text.contains("> preview")
        try Transcript(block.text).replay(.lineByLine, with: TestServer(hooks: hooks).connect())
    }

    /// On TCP, where a token is required.
    @Test(arguments: tokenTranscripts) func tokenTranscriptsAreTrue(_ block: DocumentedBlock) throws {
        let server = try AccessServer(.token("ops", "write:Content", .run))
        try Transcript(block.text).replay(.lineByLine, with: server.connectTCP())
    }

    /// With an action that declares its arguments.
    @Test(arguments: actionTranscripts) func actionTranscriptsAreTrue(_ block: DocumentedBlock) throws {
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
        try Transcript(block.text).replay(.lineByLine, with: TestServer(registry: registry).connect())
    }
}
