// Tests find and complete over a socket: they run beside the I/O thread, and replies are in order.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct FindingSessionTests {
    @Test func theReplyHasTheBestHundred() throws {
        let client = try TestServer(registry: ManyTweaks.registry).connect()
        let lines = try client.ask("find ocean")
        #expect(lines.count == 101 && lines.dropLast().allSatisfy { $0.contains("ocean") })
        #expect(Transcript.fits(lines.last ?? "", "ok best 100, … more; add a word to see fewer"))
        _ = try client.json("json")
        #expect(Transcript.fits(try client.json("find ocean"), #"{"ok":true,"rev":0,"more":…,"tweaks":[{"path":…}]}"#))
    }

    @Test func sixteenWordsAreTheMaximum() throws {
        let client = try TestServer().connect()
        #expect(try client.status("find" + String(repeating: " a", count: 16)).hasPrefix("ok"))
        let reply = try client.ask("find" + String(repeating: " a", count: 17))
        #expect(reply == ["error too-many find takes at most 16 words; leave some out"])
    }

    @Test func laterRequestsAndTheEndOfInputWait() throws {
        let lines = try TestServer(registry: ManyTweaks.make()).connect().exchange(
            "find size limit\ncomplete 'get Siz'\nping\nfind zorro\nset Label/Font/Size 5\nfind width\n")
        let statuses = lines.filter { $0.hasPrefix("ok") }
        #expect(statuses == ["ok", "ok", "ok pong", "ok", "ok rev 1", "ok"])
        #expect(lines.first?.hasPrefix("\"Label/Font/Size Limit\" = 1 ") == true)
        #expect(lines.contains("  Sizes/"))
    }

    @Test func theValuesOfAReplyAreNotOlderThanEarlierEvents() throws {
        let registry = TweakRegistry()
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        let client = try TestServer(registry: registry).connect()
        try client.ask("watch A")
        let ended = Gate()
        Thread.detachNewThread {
            for value in 1...2_000 { count.value = value }
            ended.open()
        }
        var newest = 0
        for _ in 0..<50 {
            try client.send("find count\n")
            var line = ""
            repeat {
                line = try client.line()
                let words = line.split(separator: " ")
                if let sign = words.firstIndex(of: "="), let value = Int(words[sign + 1]) {
                    #expect(value >= newest || line.hasPrefix("event"))
                    newest = max(newest, value)
                }
            } while line != "ok"
        }
        ended.waitBlocking()
    }

    @Test func tweaksRegisteredLaterAreFound() throws {
        let registry = TweakRegistry()
        let client = try TestServer(registry: registry).connect()
        #expect(try client.ask("find late") == ["ok"])
        _ = Tweak("A", "B", "Late", 1, registry: registry)
        #expect(try client.ask("find late").count == 2)
        #expect(try client.ask("complete 'get A/B/'") == ["  A/B/Late", "ok"])
        registry.remove(try TweakPath("A", "B", "Late"))
        #expect(try client.ask("find late") == ["ok"])
    }
}
