// A server stops beside clients of the panel: those that wait for an answer get one, and those that say nothing end.

import Dispatch
import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct PanelStoppingTests {
    /// An action that runs until it is cancelled.
    private struct Patience {
        let registry = TweakRegistry()
        let began = Gate()
        let cancelled = Gate()

        init() {
            tweakAction("A", "B", "Act", registry: registry) { [began, cancelled] _ in
                await withTaskCancellationHandler {
                    began.open()
                    await cancelled.wait()
                } onCancel: {
                    cancelled.open()
                }
                return "done"
            }
        }
    }

    /// Its caller is told why there is no answer, in the form that errors have.
    @Test(arguments: [("/api/actions/A/B/Act", "{}"), ("/api/run", #"{"path":"A/B/Act"}"#)])
    func anActionUnderWayIsCancelled(_ target: String, _ body: String) throws {
        let patience = Patience()
        let server = try PanelServer(registry: patience.registry, hasThread: true)
        let client = try server.connect()
        try client.send("POST", target, body)
        patience.began.waitBlocking()
        server.server.stop()
        patience.cancelled.waitBlocking()
        let answer = try client.read()
        #expect(answer.status == 503 && answer.code == "closing" && answer.json["ok"] as? Bool == false)
        #expect(answer.message == "the process is shutting down")
        #expect(try client.hasEnded())
    }

    /// With every patience of an hour, a stop that waited for one of them would not come to an end.
    @Test func idleConnectionsAreNotWaitedFor() throws {
        let server = try PanelServer(hasThread: true) { limits in
            (limits.lingerTime, limits.fatalDrain.time) = (.seconds(3_600), .seconds(3_600))
        }
        let (silent, kept, follower, unfinished) = try (
            server.connect(), server.connect(), server.connect(), server.connect()
        )
        #expect(try kept.ask("GET", "/api/whoami").status == 200)
        _ = try follower.stream()
        try unfinished.client.send("GET /api/tweaks HTTP/1.1\r\nHost:")
        let stopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [server = server.server] in
            server.stop()
            stopped.signal()
        }
        #expect(stopped.wait(timeout: .patience) == .success)
        #expect(try silent.hasEnded() && kept.hasEnded())
        #expect(try follower.event()?.name == "closing")
        #expect(try follower.event() == nil)
    }
}
