// Tests that a blocked observer delays neither sessions nor other observers, and that `stats` reports it.

import Dispatch
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer

@Suite(.blocking) struct ObserverTests {
    private let example = ExampleTweaks()
    private let other: Tweak<Int>
    private let server: TestServer
    private let client: TestClient

    init() throws {
        other = Tweak("Content", "Text", "Other", 0, registry: example.registry)
        (server, client) = try TestServer(registry: example.registry, hasThread: true).withClient()
    }

    @Test func fiftySessionsAreServedMeanwhile() throws {
        let (began, gate, ended) = (Gate(), Gate(), Gate())
        defer { gate.open() }
        let observation = example.size.observe { change in
            began.open()
            gate.waitBlocking()
            if change.new == 99 { ended.open() }
        }
        #expect(try client.status("set Content/Text/Size 72") == "ok rev 1")
        began.waitBlocking()
        let clients = try (0..<50).map { try server.connect(Transport.available[$0 % Transport.available.count]) }
        for (number, client) in clients.enumerated() {
            #expect(try client.status("set Content/Text/Size \(number + 11)") == "ok rev \(number + 2)")
            #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = \(number + 11) "))
        }
        let stats = try client.ask("stats")
        #expect(stats.contains("  undeliveredObservers: 1"))
        let source = try #require(example.registry["Content/Text/Size"]).source
        let running = stats.filter { $0.contains("runningObservers") }
        let words = "  runningObservers: path Content/Text/Size, declared \(source), milliseconds "
        #expect(running.count == 1 && running.allSatisfy { $0.hasPrefix(words) })
        try client.ask("set Content/Text/Size 99")
        gate.open()
        ended.waitBlocking()
        observation.cancel()
    }

    /// It does not run on the I/O thread.
    @Test func anObserverMayBeAClientOfItsServer() throws {
        let (path, ended) = (server.path, Gate())
        let reply = Mutex<[String]?>(nil)
        let observation = example.size.observe { _ in
            let lines = try? TestClient(unix: path).ask("get Content/Text/Size")
            reply.withLock { $0 = lines }
            ended.open()
        }
        #expect(try client.status("set Content/Text/Size 72") == "ok rev 1")
        ended.waitBlocking()
        #expect(reply.withLock { $0 }?.first?.hasPrefix("Content/Text/Size = 72 ") == true)
        observation.cancel()
    }

    // MARK: Other observers

    @Test func aBlockedObserverDelaysNoOtherOfItsTweakOrAnother() throws {
        let (began, gate, called) = (Gate(), Gate(), [Gate(), Gate()])
        defer { gate.open() }
        let seen = Mutex<[String]>([])
        let observations = [
            example.size.observe { _ in
                began.open()
                gate.waitBlocking()
            },
            example.size.observe { change in
                seen.withLock { $0.append("size \(change.new)") }
                called[0].open()
            },
            other.observe { change in
                seen.withLock { $0.append("other \(change.new)") }
                called[1].open()
            },
        ]
        try client.ask("set Content/Text/Size 72")
        began.waitBlocking()
        called[0].waitBlocking()
        try client.ask("set Content/Text/Other 1")
        called[1].waitBlocking()
        #expect(seen.withLock { $0 } == ["size 72.0", "other 1"])
        for observation in observations { observation.cancel() }
    }

    /// Sequences and bindings to actors need no thread.
    @Test func whenAllThreadsAreBlockedOtherObserversWaitAndSequencesDoNot() async throws {
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

    // MARK: The delivery lag

    @Test func theLagIsThatOfTheOldestChange() throws {
        let (began, gate) = (Gate(), Gate())
        defer { gate.open() }
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
        #expect(try #require(Int64(try client.stats("deliveryLagMilliseconds"))) >= atLeast)
        for observation in observations { observation.cancel() }
    }

    /// A change that came while its observer ran, and that later changes have overtaken.
    @Test func theLagIsThatOfAnOvertakenChange() throws {
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
            try registry.commit(batch, origin: .code, delivery: .executor)
            clock.advance(by: .seconds(1))
        }
        // One observer runs when its next change comes; then all threads are busy, and two wait.
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

/// An object of the main actor with a bound property.
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
