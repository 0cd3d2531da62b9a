// A server whose disk does what a test says, when it says so.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// A server on a Unix socket with such a disk.
final class GatedServer {
    let registry: TweakRegistry
    let store: GatedStore
    let server: TweakServer
    let stepped: SteppedServer?
    private let directory: TemporaryDirectory

    init(
        isRequired: Bool = false, limits: TweakServerLimits = TweakServerLimits(),
        hooks: TweakServerHooks = TweakServerHooks(), hasThread: Bool = false
    ) throws {
        registry = ExampleTweaks().registry
        store = GatedStore(isRequired: isRequired)
        directory = try TemporaryDirectory()
        store.attach(to: registry, overrides: [], revision: 0)
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
            limits: limits, hooks: hooks)
        stepped = try server.started(hasThread: hasThread)
    }

    deinit { server.stop(stepped) }

    /// A client that does not take the server's turns: what several of them send is there at once.
    func connectIdly() throws -> TestClient { try TestClient(unix: directory.file("socket"), owner: self) }

    func connect() throws -> TestClient { try TestClient(unix: directory.file("socket"), owner: self, server: stepped) }

    /// Waits until the server has committed so much, as another session sees it; what was asked for before that has been
    /// begun by then.
    func waitForRevision(_ revision: UInt64, _ other: TestClient, at location: SourceLocation = #_sourceLocation) throws
    {
        try eventually(turning: stepped, at: location) { try other.ask("stats").contains("  rev: \(revision)") }
    }

    /// Waits until so many changes wait to be written.
    func waitForProposals(_ count: Int, at location: SourceLocation = #_sourceLocation) throws {
        try eventually(turning: stepped, at: location) { store.proposals >= count }
    }
}
