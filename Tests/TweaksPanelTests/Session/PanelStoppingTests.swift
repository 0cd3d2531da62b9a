// Tests a stopping server with clients of the panel: pending requests are answered, idle connections end.

import Dispatch
import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct PanelStoppingTests {
    /// An action that runs until it is canceled.
    private struct EndlessAction {
        let registry = TweakRegistry()
        let began = Gate()
        let canceled = Gate()

        init() {
            tweakAction("A", "B", "Act", registry: registry) { [began, canceled] _ in
                await withTaskCancellationHandler {
                    began.open()
                    await canceled.wait()
                } onCancel: {
                    canceled.open()
                }
                return "done"
            }
        }
    }

    @Test(arguments: [("/api/actions/A/B/Act", "{}"), ("/api/run", #"{"path":"A/B/Act"}"#)])
    func aRunningActionIsCanceledAndAnswered(_ target: String, _ body: String) throws {
        let action = EndlessAction()
        let (server, client) = try PanelServer.connected(registry: action.registry, hasThread: true)
        try client.send("POST", target, body)
        action.began.waitBlocking()
        server.server.stop()
        action.canceled.waitBlocking()
        let answer = try client.read()
        #expect(answer.status == 503 && answer.code == "closing" && answer.json["ok"] as? Bool == false)
        #expect(answer.message == "the process is shutting down")
        #expect(try client.hasEnded())
    }

    /// With all timeouts of an hour.
    @Test func idleConnectionsDoNotDelayTheStop() throws {
        let server = try PanelServer([], hasThread: true) { limits in
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
        #expect(stopped.wait(timeout: .testTimeout) == .success)
        #expect(try silent.hasEnded() && kept.hasEnded())
        #expect(try follower.event()?.name == "closing")
        #expect(try follower.event() == nil)
    }
}
