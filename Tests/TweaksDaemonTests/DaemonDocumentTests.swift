// Replays the transcripts of the documentation against a daemon with real files.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

extension DocumentedBlock {
    private static let daemon = "Sources/TweaksDaemon/TweaksDaemon.docc/"

    static let daemonReadme = all("daemon-transcript", of: "README.md")
    static let daemonGuides =
        ["RunningInProduction", "ConfigFilesAndReload", "HandingALookToSomeone", "Troubleshooting"].flatMap {
            all("daemon-transcript", of: daemon + $0 + ".md")
        }
        + all("daemon-transcript", of: "Sources/Tweaks/Tweaks.docc/WhereAValueComesFrom.md")
        + all("daemon-transcript", of: "Sources/TweaksServer/TweaksServer.docc/Protocol.md")
}

@Suite(.blocking) struct DaemonDocumentTests {
    @Test func theDocumentsHaveTranscripts() {
        #expect(DocumentedBlock.daemonReadme.count == 1)
        #expect(DocumentedBlock.daemonGuides.count >= 8)
    }

    @Test(arguments: DocumentedBlock.daemonGuides) func transcriptsOfGuidesAreTrue(_ block: DocumentedBlock) throws {
        try replay(block) { ExampleTweaks().registry }
    }

    /// With the two tweaks that the README declares.
    @Test(arguments: DocumentedBlock.daemonReadme) func theReadmeIsTrue(_ block: DocumentedBlock) throws {
        try replay(block) {
            let registry = TweakRegistry()
            _ = Tweak(
                "Content", "Text", "Size", 60.0, in: 10...100, step: 0.5, unit: "pt", help: "Label size",
                registry: registry)
            _ = Tweak("Content", "Text", "Color", TweakColor.black, registry: registry)
            return registry
        }
    }

    private func replay(_ block: DocumentedBlock, _ registry: @escaping () -> TweakRegistry) throws {
        let transcript = ShellTranscript(block.text)
        #expect(!transcript.isEmpty)
        let program = try Bounce(registry: registry)
        try transcript.replay(with: program, in: program.root)
        try program.stop()
    }
}

/// The program `bounce` of the documents, in this process, with the files of a service.
private final class Bounce: DocumentedProgram {
    let name = "bounce"
    let log = LogLines()
    let root: TemporaryDirectory
    private let registry: () -> TweakRegistry
    private var daemon: TweakDaemon?

    init(registry: @escaping () -> TweakRegistry) throws {
        self.registry = registry
        root = try TemporaryDirectory()
        for path in ["etc", "run", "var/lib/bounce", "var/log/bounce"] { try root.makeFolder(path) }
    }

    func start() throws {
        let environment = [
            "TWEAKS_SOCKET": root.file("run/bounce.sock"), "TWEAKS_CONFIG": root.file("etc/bounce.conf"),
            "TWEAKS_STATE_DIR": root.file("var/lib/bounce"), "TWEAKS_AUDIT": root.file("var/log/bounce/audit.log"),
        ]
        let configuration = TweakDaemon.Configuration.test(registry(), environment) { [name, log] in
            $0.storage = .standard
            // As the log on standard error does.
            $0.onEvent = { event in
                if case .changed(let commit) = event, [.code, .configFile].contains(commit.origin) { return }
                for line in event.lines { log.note("\(name): \(line)") }
            }
        }
        daemon = try TweakDaemon.start(name, configuration)
    }

    func stop() throws {
        daemon?.stop()
        daemon = nil
    }

    func kill() throws { Issue.record("the process of the tests cannot be killed") }

    func reload() throws { _ = try? daemon?.reload() }
}
