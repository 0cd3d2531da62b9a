// Tests metrics as figures.

import Metrics
import Synchronization
import Testing
import TweaksDaemon
import TweaksObservability

struct FigureTests {
    private let registry = TweakRegistry()
    private let factory: TweakFigures

    init() { factory = TweakFigures(registry) }

    /// The figures, after what has been counted is published.
    private var figures: [String] {
        factory.publish()
        let tweaks = registry.categories.flatMap(\.tweaks)
        return tweaks.map { "\($0.path.collection)/\($0.path.name) = \($0.value ?? .notSet)" }
    }

    @Test func `Each metric is a collection of figures`() {
        let requests = Counter(label: "requests", dimensions: [("method", "GET")], factory: factory)
        requests.increment(by: 2)
        requests.increment()
        let paid = FloatingPointCounter(label: "paid", factory: factory)
        paid.increment(by: 1.5)
        let open = Meter(label: "open", factory: factory)
        open.set(5)
        open.decrement()
        let size = Gauge(label: "size", factory: factory)
        size.record(7)
        let sizes = Recorder(label: "sizes", factory: factory)
        for value in [3, 1, 2] { sizes.record(value) }
        for number in [Double.nan, .infinity] {
            sizes.record(number)
            paid.increment(by: number)
            open.set(number)
            open.decrement(by: number)
        }
        let time = Timer(label: "http/time", factory: factory)
        time.recordMilliseconds(100)
        time.recordMilliseconds(300)
        let expected = [
            "http.time/count = 2", "http.time/mean = 0.2", "http.time/max = 0.3", "open/value = 4", "paid/count = 1.5",
            "requests/count method=GET = 3", "size/value = 7", "sizes/value = 2", "sizes/count = 3", "sizes/mean = 2",
            "sizes/max = 3",
        ]
        #expect(figures.sorted() == expected.sorted())
        #expect(
            registry["Metrics/http.time/mean"]?.unit == "s" && registry["Metrics/http.time/mean"]?.flags == .readOnly)
        #expect(registry.revision == 0)
    }

    @Test func `The same label is one metric, which goes on after it was destroyed`() {
        let (first, second) = (Counter(label: "a", factory: factory), Counter(label: "a", factory: factory))
        first.increment()
        second.increment()
        #expect(figures == ["a/count = 2"])
        first.reset()
        #expect(figures == ["a/count = 0"])
        first.destroy()
        second.increment()
        Counter(label: "a", factory: factory).increment()
        #expect(figures == ["a/count = 2"])
    }

    @Test func `A sum beyond all numbers leaves the figure as it was`() {
        let paid = FloatingPointCounter(label: "paid", factory: factory)
        paid.increment(by: 1)
        #expect(figures == ["paid/count = 1"])
        paid.increment(by: Double.greatestFiniteMagnitude)
        paid.increment(by: Double.greatestFiniteMagnitude)
        #expect(figures == ["paid/count = 1"])
    }

    @Test(.timeLimit(.minutes(1))) func `Figures follow by themselves, and their observers keep no one from counting`()
        async throws
    {
        let counter = Counter(label: "a", factory: factory)
        let figure = try registry.register("Metrics", "a", "count", 0.0, flags: .readOnly)
        let runs = Atomic(0)
        // An observer that counts: each of its runs makes the next one.
        let observation = figure.observe { _ in
            if runs.add(1, ordering: .relaxed).newValue < 10_000 { counter.increment() }
        }
        counter.increment()
        #expect(runs.load(ordering: .relaxed) < 10_000)
        #expect(await figure.values.first { $0 >= 2 } != nil)
        observation.cancel()
    }

    @Test func `What threads count together is shown, whoever is the last`() async {
        let counter = Counter(label: "a", factory: factory)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<1_000 { counter.increment() } } }
        }
        #expect(figures == ["a/count = 4000"])
    }

    @Test func `A label that is no name, and metrics beyond the limit, have no figures`() {
        Counter(label: "a\nb", factory: factory).increment()
        for number in 0..<300 { Counter(label: "number \(number)", factory: factory).increment() }
        #expect(registry.count == 250)
    }
}
