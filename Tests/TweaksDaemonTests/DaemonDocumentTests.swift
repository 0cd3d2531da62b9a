// Replays the transcripts of the documentation against a daemon with real files.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

extension DocumentedBlock {
    private static let daemon = "Sources/TweaksDaemon/TweaksDaemon.docc/"

    static let daemonGuides =
        ["RunningInProduction", "ConfigFilesAndReload", "HandingALookToSomeone", "Troubleshooting"].flatMap {
            all("daemon-transcript", of: daemon + $0 + ".md")
        }
        + all("daemon-transcript", of: "Sources/Tweaks/Tweaks.docc/WhereAValueComesFrom.md")
        + all("daemon-transcript", of: "Sources/TweaksServer/TweaksServer.docc/Protocol.md")
}

@Suite(.blocking) struct DaemonDocumentTests {
    @Test func theDocumentsHaveTranscripts() {
        #expect(DocumentedBlock.daemonGuides.count >= 8)
    }

    @Test(arguments: DocumentedBlock.daemonGuides) func transcriptsOfGuidesAreTrue(_ block: DocumentedBlock) throws {
        let transcript = ShellTranscript(block.text)
        #expect(!transcript.isEmpty)
        let program = try Bounce()
        try transcript.replay(with: program, in: program.root)
        try program.stop()
    }
}

/// The program `bounce` of the documents, in this process, with the files of a service.
private final class Bounce: DocumentedProgram {
    let name = "bounce"
    let log = LogLines()
    let root: TemporaryDirectory
    private var daemon: TweakDaemon?

    init() throws {
        root = try TemporaryDirectory()
        for path in ["etc", "run", "var/lib/bounce", "var/log/bounce"] { try root.makeFolder(path) }
    }

    func start() throws {
        let environment = [
            "TWEAKS_SOCKET": root.file("run/bounce.sock"), "TWEAKS_CONFIG": root.file("etc/bounce.conf"),
            "TWEAKS_STATE_DIR": root.file("var/lib/bounce"), "TWEAKS_AUDIT": root.file("var/log/bounce/audit.log"),
        ]
        let configuration = TweakDaemon.Configuration.test(ExampleTweaks().registry, environment) { [name, log] in
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
