// Shows the metrics of swift-metrics as figures, which clients of a daemon read and watch.

public import CoreMetrics
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
/// `MultiplexMetricsHandler`. Metrics beyond a thousand figures, and those whose label is no name of a tweak, are not
/// shown.
public final class TweakFigures: MetricsFactory {
    private let registry: TweakRegistry
    private let category: String
    private let figures = Mutex<[String: Figure]>([:])

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

    /// Removes its figures.
    public func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
    /// Removes its figures.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { destroy(handler) }
    /// Removes its figures.
    public func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
    /// Removes its figures.
    public func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
    /// Removes its figures.
    public func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }

    private func figure(
        _ label: String, _ dimensions: [(String, String)], _ parts: [Figure.Part], unit: String? = nil
    ) -> Figure {
        let suffix = dimensions.map { " \($0)=\($1)" }.joined()
        let key = parts.map(\.rawValue).joined(separator: ",") + " \(label)\(suffix)"
        let (known, isFull) = figures.withLock { ($0[key], $0.count >= 250) }
        if let known { return known }
        // Registering calls code of the program, so not under the lock.
        let figure = Figure(key, isFull ? [:] : tweaks(label, suffix, parts, unit))
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

    private func destroy(_ handler: AnyObject) {
        guard let figure = handler as? Figure, figures.withLock({ $0.removeValue(forKey: figure.key) }) != nil else {
            return
        }
        for tweak in figure.tweaks.values { registry.remove(tweak.path) }
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
        var isPublishing = false
        var isChanged = false
    }

    let key: String
    let tweaks: [Part: Tweak<Double>]
    private let state = Mutex(State())

    init(_ key: String, _ tweaks: [Part: Tweak<Double>]) {
        self.key = key
        self.tweaks = tweaks
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { update { ($0.count, $0.value) = ($0.count + amount, $0.value + amount) } }
    func decrement(by amount: Double) { update { $0.value -= amount } }
    func reset() { update { ($0.count, $0.value) = (0, 0) } }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { update { $0.value = value } }
    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        update { state in
            state.value = value
            state.count += 1
            state.sum += value
            state.max = max(state.max, value)
        }
    }

    /// Changes the state, and publishes it: one thread at a time, so that the last one published is the last one.
    private func update(_ change: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            change(&state)
            state.isChanged = true
            defer { state.isPublishing = true }
            return !state.isPublishing
        }
        if !isFirst { return }
        while let state = next() {
            tweaks[.value]?.value = state.value
            tweaks[.count]?.value = state.count
            tweaks[.max]?.value = state.max
            tweaks[.mean]?.value = state.sum / state.count
        }
    }

    private func next() -> State? {
        state.withLock { state in
            state.isPublishing = state.isChanged
            defer { state.isChanged = false }
            return state.isChanged ? state : nil
        }
    }
}
