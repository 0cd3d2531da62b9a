// Shows the metrics of swift-metrics as figures, which clients of a daemon read and watch.

public import CoreMetrics
import Dispatch
import Synchronization
public import Tweaks

/// A backend of swift-metrics whose metrics are figures: `http.requests` is `Metrics/http.requests/count`.
///
/// ```swift
/// MetricsSystem.bootstrap(TweakFigures())
/// ```
///
/// The dimensions are a part of the name: `Metrics/http.requests/count method=GET`. A timer has a count, a mean and a
/// maximum since the start; a recorder has the last value, too. With another backend they are put together by
/// `MultiplexMetricsHandler`. Metrics beyond the first 250, and those whose label is no name of a tweak, are not shown.
///
/// To count costs a lock and an addition: the figures follow a tenth of a second later, on another thread. A metric that
/// is destroyed keeps its figures, and goes on where it was when it is made again.
public final class TweakFigures: MetricsFactory {
    private let registry: TweakRegistry
    private let category: String
    private let figures = Mutex<[String: Figure]>([:])
    private let publisher = Publisher()

    /// A backend.
    /// - Parameters:
    ///   - registry: The registry of the figures.
    ///   - category: Their category.
    public init(_ registry: TweakRegistry = .shared, category: String = "Metrics") {
        self.registry = registry
        self.category = category
    }

    /// A counter: `count`.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        figure(label, dimensions, [.count])
    }

    /// A counter of parts: `count`.
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        figure(label, dimensions, [.count])
    }

    /// A meter: `value`.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        figure(label, dimensions, [.value])
    }

    /// A gauge: `value`; with an aggregate also `count`, `mean` and `max`.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        figure(label, dimensions, aggregate ? [.value, .count, .mean, .max] : [.value])
    }

    /// A timer: `count`, and `mean` and `max` in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        figure(label, dimensions, [.count, .mean, .max], unit: "s")
    }

    /// Keeps its figures.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Keeps its figures.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    /// Keeps its figures.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Keeps its figures.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Keeps its figures.
    public func destroyTimer(_ handler: any TimerHandler) {}

    /// Shows what has been counted until now.
    package func publish() { publisher.publish() }

    private func figure(
        _ label: String, _ dimensions: [(String, String)], _ parts: [Figure.Part], unit: String? = nil
    ) -> Figure {
        let suffix = dimensions.map { " \($0)=\($1)" }.joined()
        let key = parts.map(\.rawValue).joined(separator: ",") + " \(label)\(suffix)"
        let (known, isFull) = figures.withLock { ($0[key], $0.count >= 250) }
        if let known { return known }
        // Registering calls code of the program, so not under the lock.
        let figure = Figure(isFull ? [:] : tweaks(label, suffix, parts, unit), publisher)
        return figures.withLock { figures in
            if figures[key] == nil, !figure.tweaks.isEmpty { figures[key] = figure }
            return figures[key] ?? figure
        }
    }

    private func tweaks(
        _ label: String, _ suffix: String, _ parts: [Figure.Part], _ unit: String?
    ) -> [Figure.Part: Tweak<Double>] {
        func part(_ text: String) -> String { String(text.map { $0 == "/" ? "." : $0 }) }
        let (collection, suffix) = (part(label), part(suffix))
        var tweaks: [Figure.Part: Tweak<Double>] = [:]
        for part in parts {
            tweaks[part] = try? registry.register(
                category, collection, part.rawValue + suffix, 0.0, unit: part == .count ? nil : unit, flags: .readOnly)
        }
        return tweaks
    }
}

/// The figures of one metric.
private final class Figure: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    enum Part: String { case value, count, mean, max }

    private struct State {
        var value = 0.0
        var count = 0.0
        var sum = 0.0
        var max = -Double.infinity
        /// Whether the publisher knows of it.
        var isChanged = false
    }

    let tweaks: [Part: Tweak<Double>]
    private let publisher: Publisher
    private let state = Mutex(State())

    init(_ tweaks: [Part: Tweak<Double>], _ publisher: Publisher) {
        self.tweaks = tweaks
        self.publisher = publisher
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) {
        update(amount) { ($0.count, $0.value) = ($0.count + amount, $0.value + amount) }
    }
    func decrement(by amount: Double) { update(amount) { $0.value -= amount } }
    func reset() { update(0) { ($0.count, $0.value) = (0, 0) } }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { update(value) { $0.value = value } }
    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        update(value) { state in
            state.value = value
            state.count += 1
            state.sum += value
            state.max = max(state.max, value)
        }
    }

    /// Changes the state, and tells the publisher; a number that is none would stay in a sum for ever.
    private func update(_ number: Double, _ change: (inout State) -> Void) {
        guard number.isFinite, !tweaks.isEmpty else { return }
        let isFirst = state.withLock { state in
            change(&state)
            defer { state.isChanged = true }
            return !state.isChanged
        }
        if isFirst { publisher.note(self) }
    }

    /// Sets the tweaks. Called by one thread at a time.
    func publish() {
        let state = state.withLock { state in
            state.isChanged = false
            return state
        }
        let values: [Part: Double] = [
            .value: state.value, .count: state.count, .mean: state.sum / state.count, .max: state.max,
        ]
        // A sum may have grown beyond all numbers.
        for (part, tweak) in tweaks { if let value = values[part], value.isFinite { tweak.value = value } }
    }
}

/// Publishes figures that have changed, on a queue of its own: observers of figures are code of the program.
private final class Publisher: Sendable {
    private let queue = DispatchQueue(label: "tweaks.figures")
    private let changed = Mutex<[Figure]>([])

    /// Publishes a figure in a tenth of a second, with all that change until then.
    func note(_ figure: Figure) {
        let isFirst = changed.withLock { changed in
            changed.append(figure)
            return changed.count == 1
        }
        if isFirst { queue.asyncAfter(deadline: .now() + .milliseconds(100)) { [self] in publishChanged() } }
    }

    func publish() { queue.sync { publishChanged() } }

    private func publishChanged() {
        let figures = changed.withLock { changed in
            defer { changed = [] }
            return changed
        }
        for figure in figures { figure.publish() }
    }
}
