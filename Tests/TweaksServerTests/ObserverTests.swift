// An observer that blocks delays no session, and `stats` shows that it does.

import Dispatch
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer

@Suite(.blocking) struct ObserverTests {
    @Test func fiftySessionsAreAnsweredMeanwhile() throws {
        let example = ExampleTweaks()
        let server = try TestServer(registry: example.registry, hasThread: true)
        let (began, gate, ended) = (Gate(), Gate(), Gate())
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
        #expect(stats.contains("  undeliveredObservers: 1"))
        // It runs on: it is named with its tweak and the line that declares that.
        let source = try #require(example.registry["Content/Text/Size"]).source
        let running = stats.filter { $0.contains("runningObservers") }
        let words = "  runningObservers: path Content/Text/Size, declared \(source), milliseconds "
        #expect(running.count == 1 && running.allSatisfy { $0.hasPrefix(words) })
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

    // MARK: Each has turns of its own

    @Test func aStuckOneDelaysNoOther() throws {
        let example = ExampleTweaks()
        let server = try TestServer(registry: example.registry, hasThread: true)
        let client = try server.connect()
        let (began, gate) = (Gate(), Gate())
        defer { gate.open() }
        let other = Tweak("Content", "Text", "Other", 0, registry: example.registry)
        let seen = Mutex<[String]>([])
        let heard = [Gate(), Gate()]
        let observations = [
            example.size.observe { _ in
                began.open()
                gate.waitBlocking()
            },
            // Of the same tweak, and of another one.
            example.size.observe { change in
                seen.withLock { $0.append("size \(change.new)") }
                heard[0].open()
            },
            other.observe { change in
                seen.withLock { $0.append("other \(change.new)") }
                heard[1].open()
            },
        ]
        try client.ask("set Content/Text/Size 72")
        began.waitBlocking()
        heard[0].waitBlocking()
        try client.ask("set Content/Text/Other 1")
        heard[1].waitBlocking()
        #expect(seen.withLock { $0 } == ["size 72.0", "other 1"])
        for observation in observations { observation.cancel() }
    }

    /// Sequences and bindings to actors need no thread: they go on when there is none left.
    @Test func whenAllThreadsAreStuckTheRestWaits() async throws {
        let example = ExampleTweaks()
        let server = try TestServer(registry: example.registry, hasThread: true)
        let client = try server.connect()
        let (gate, most) = (Gate(), ObserverThreads.limit)
        defer { gate.open() }
        let count = Mutex((running: 0, most: 0, done: 0))
        let (stuck, done) = (Gate(), Gate())
        let tweaks = (0..<most + 4).map { Tweak("A", "B", "\($0)", 0, registry: example.registry) }
        let observations = tweaks.map { tweak in
            tweak.observe { _ in
                let isFull = count.withLock { count in
                    count.running += 1
                    count.most = max(count.most, count.running)
                    return count.running == most
                }
                if isFull { stuck.open() }
                gate.waitBlocking()
                let isLast = count.withLock { count in
                    count.running -= 1
                    count.done += 1
                    return count.done == tweaks.count
                }
                if isLast { done.open() }
            }
        }
        for tweak in tweaks { try client.ask("set \(tweak.path.token) 1") }
        stuck.waitBlocking()
        let stats = try client.ask("stats")
        #expect(stats.contains("  undeliveredObservers: \(tweaks.count)"))
        #expect(stats.contains("  observerThreads: \(most)"))
        #expect(stats.count { $0.hasPrefix("  runningObservers: path A/B/") } == most)

        var sizes = example.size.values.makeAsyncIterator()
        #expect(await sizes.next() == 60)
        let label = await Label(example.size)
        var written = label.written.makeAsyncIterator()
        try client.ask("set Content/Text/Size 72")
        #expect(await sizes.next() == 72)
        #expect(await written.next() == 72)

        gate.open()
        done.waitBlocking()
        #expect(count.withLock { $0.most } == most)
        for observation in observations { observation.cancel() }
    }

    /// The lag is the oldest change's, however many others are delivered meanwhile.
    @Test func theLagIsThatOfTheOldestChange() throws {
        let example = ExampleTweaks()
        let server = try TestServer(registry: example.registry, hasThread: true)
        let client = try server.connect()
        let (began, gate) = (Gate(), Gate())
        defer { gate.open() }
        let other = Tweak("Content", "Text", "Other", 0, registry: example.registry)
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        let observations = [
            example.size.observe { _ in
                began.open()
                gate.waitBlocking()
            },
            other.observe { _ in signal.yield() },
        ]
        try client.ask("set Content/Text/Size 72")
        let start = ContinuousClock.now
        began.waitBlocking()
        for value in 1...50 { try client.ask("set Content/Text/Other \(value)") }
        _ = signals
        let atLeast = Int64((ContinuousClock.now - start) / .milliseconds(1))
        let line = try #require(try client.ask("stats").first { $0.contains("deliveryLagMilliseconds") })
        let lag = try #require(line.split(separator: " ").last.flatMap { Int64($0) })
        #expect(lag >= atLeast)
        for observation in observations { observation.cancel() }
    }

    /// Also that of a change which came while its observer ran, and which others have overtaken since.
    @Test func theLagIsThatOfAChangeThatWasOvertaken() throws {
        let (clock, registry, released) = (ManualClock(), TweakRegistry(), Gate())
        defer { released.open() }
        let threads = ObserverThreads(clock: { clock.now })
        registry.observerExecutor = threads
        let first = Gate()
        let tweaks = (0...ObserverThreads.limit + 1).map { Tweak("A", "B", "\($0)", 0, registry: registry) }
        let began = tweaks.map { _ in Gate() }
        let observations = zip(tweaks, began).enumerated().map { number, one in
            one.0.observe { _ in
                one.1.open()
                if number == 0 { first.waitBlocking() } else { released.waitBlocking() }
            }
        }
        let set = { (number: Int, value: Int64) in
            var batch = TweakBatch()
            batch.set("A/B/\(number)", .int(value))
            try registry.commit(batch, origin: .code, delivery: .carrier)
            clock.advance(by: .seconds(1))
        }
        // One runs when its next change comes, and then all threads are taken, and two wait.
        try set(0, 1)
        began[0].waitBlocking()
        try set(0, 2)
        for number in 1...ObserverThreads.limit + 1 {
            try set(number, 1)
            if number < ObserverThreads.limit { began[number].waitBlocking() }
        }
        #expect(threads.report.lag == .seconds(ObserverThreads.limit + 3))
        first.open()
        began[ObserverThreads.limit].waitBlocking()
        #expect(threads.report.observers == ObserverThreads.limit + 2)
        #expect(threads.report.lag == .seconds(ObserverThreads.limit + 2))
        for observation in observations { observation.cancel() }
    }
}

/// A view.
@MainActor
private final class Label {
    let written: AsyncStream<Double>
    private let writes: AsyncStream<Double>.Continuation
    private var size = 0.0 {
        didSet { writes.yield(size) }
    }

    init(_ tweak: Tweak<Double>) {
        (written, writes) = AsyncStream.makeStream(of: Double.self)
        tweak.bind(to: self, \.size, when: .onChange)
    }
}
