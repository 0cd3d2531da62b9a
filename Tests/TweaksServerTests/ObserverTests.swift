// An observer that blocks delays no session, and `stats` shows that it does.

import Dispatch
import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct ObserverTests {
    @Test func fiftySessionsAreAnsweredMeanwhile() throws {
        let example = ExampleTweaks()
        let server = try TestServer(registry: example.registry, hasThread: true)
        let (began, gate, ended) = (Gate(), Gate(), Gate())
        // All servers of this process share the thread that it would keep.
        defer { gate.open() }
        let observation = example.size.observe { change in
            began.open()
            gate.waitBlocking()
            if change.new == 99 { ended.open() }
        }
        let first = try server.connect()
        #expect(try first.ask("set Content/Text/Size 72").last == "ok rev 1")
        began.waitBlocking()
        let clients = try (0..<50).map { try server.connect(Transport.available[$0 % Transport.available.count]) }
        for (number, client) in clients.enumerated() {
            #expect(try client.ask("set Content/Text/Size \(number + 11)").last == "ok rev \(number + 2)")
            #expect(
                try client.ask("get Content/Text/Size").first?.hasPrefix("Content/Text/Size = \(number + 11) ") == true)
        }
        // It lags, and says so; the values are those that were set.
        let stats = try first.ask("stats")
        #expect(!stats.contains("  undeliveredObservers: 0"))
        try first.ask("set Content/Text/Size 99")
        gate.open()
        ended.waitBlocking()
        observation.cancel()
    }

    /// It runs on neither the I/O thread nor before the reply is on its way.
    @Test func mayAskTheServerItself() throws {
        let example = ExampleTweaks()
        let server = try TestServer(registry: example.registry, hasThread: true)
        let client = try server.connect()
        let path = server.path
        let ended = Gate()
        let answer = Mutex<[String]?>(nil)
        let observation = example.size.observe { _ in
            // From inside an observer a client of the same server is answered.
            let lines = try? TestClient(unix: path).ask("get Content/Text/Size")
            answer.withLock { $0 = lines }
            ended.open()
        }
        #expect(try client.ask("set Content/Text/Size 72").last == "ok rev 1")
        ended.waitBlocking()
        #expect(answer.withLock { $0 }?.first?.hasPrefix("Content/Text/Size = 72 ") == true)
        observation.cancel()
    }
}
