// Keeps the last values of figures: 300 at one second, and 300 at six with the extremes between.

import Tweaks

/// Numeric figures over time. It has no clock and no thread: times and values come in, samples go out.
///
/// All figures share the times of a rate, so a sample is one number at one second, and three at six.
struct FigureRecorder {
    /// A value at a time; at six seconds the last one of its span, with the extremes in it.
    struct Sample: Equatable {
        let time: Moment
        let value: Double
        let low: Double
        let high: Double
    }

    /// The time between samples, in seconds: all for the last five minutes, fewer for the last thirty.
    enum Rate: Int64 {
        case second = 1
        case span = 6

        /// The rate that reaches back as far as needed.
        init(reaching seconds: Int64) { self = seconds <= Int64(Timeline.capacity) ? .second : .span }
    }

    /// The longest time that it reaches back, in seconds.
    static let reach = Int64(Timeline.capacity) * Rate.span.rawValue

    /// The maximum number of figures.
    let capacity: Int
    /// When the next sample is due.
    private(set) var nextSample: Moment
    /// Whether the list of figures may have changed.
    var isStale = true
    /// Whether there are more figures than it holds, so that only watched ones are recorded.
    private(set) var isFull = false
    private var series: [Series] = []
    private var seconds = Timeline()
    private var spans = Timeline()
    /// The number of the span of the newest sample, counted from the start.
    private var span: Int64 = -1
    private let start: Moment

    /// - Parameters:
    ///   - figures: The maximum number of figures.
    ///   - bytes: The maximum memory of all, in bytes.
    init(_ now: Moment, figures: Int, bytes: Int) {
        start = now
        nextSample = now
        capacity = max(0, min(figures, bytes / Series.memorySize))
    }

    var isEmpty: Bool { series.isEmpty }

    var memorySize: Int { series.isEmpty ? 0 : series.count * Series.memorySize + 2 * Timeline.memorySize }

    // MARK: Figures

    /// Records the figures among these tweaks from now on; the samples of others are forgotten.
    /// - Parameter isWatched: Whether a session gets the changes of a figure. Beyond the capacity, others are left out.
    mutating func follow(_ nodes: [TweakNode], where isWatched: (TweakNode) -> Bool) {
        isStale = false
        var figures = nodes.filter(\.isNumericFigure)
        isFull = figures.count > capacity
        if isFull { figures = Array(figures.lazy.filter(isWatched).prefix(capacity)) }
        // Mostly nothing has changed.
        if figures.count == series.count, zip(figures, series).allSatisfy({ $0 === $1.node }) { return }
        var known: [ObjectIdentifier: Series] = [:]
        for one in series { known[ObjectIdentifier(one.node)] = one }
        series = figures.map { known[ObjectIdentifier($0)] ?? Series($0) }
    }

    // MARK: Sampling

    /// Adds the values of all figures at a time.
    /// - Parameter read: The value of a figure; nil if it has none.
    mutating func sample(at now: Moment, _ read: (TweakNode) -> TweakValue?) {
        let due = nextSample + .seconds(1)
        nextSample = due > now ? due : now + .seconds(1)
        let slot = seconds.add(now)
        let current = (now - start).components.seconds / Rate.span.rawValue
        let isNewSpan = current != span
        span = current
        let spanSlot = isNewSpan ? spans.add(now) : spans.moveNewest(to: now)
        for index in series.indices {
            let value = read(series[index].node)?.figure ?? .nan
            series[index].store(value, at: slot, in: spanSlot, isNewSpan: isNewSpan)
        }
    }

    // MARK: Reading

    /// The samples of a figure from a time on, oldest first; none if it is not recorded.
    func samples(of node: TweakNode, at rate: Rate, since first: Moment) -> [Sample] {
        guard let series = series.first(where: { $0.node === node }) else { return [] }
        let timeline = rate == .second ? seconds : spans
        return timeline.slots.compactMap { slot in
            let time = timeline.times[slot]
            return time < first ? nil : series.sample(slot, rate, time)
        }
    }
}

/// The times of the samples of one rate, in a ring: the newest takes the place of the oldest.
private struct Timeline {
    static let capacity = 300
    static let memorySize = capacity * MemoryLayout<Moment>.stride
    private(set) var times: [Moment] = []
    private var newest = -1

    /// - Returns: The slot of the new time.
    mutating func add(_ time: Moment) -> Int {
        newest = (newest + 1) % Self.capacity
        if newest == times.count { times.append(time) } else { times[newest] = time }
        return newest
    }

    /// - Returns: The slot of the newest time.
    mutating func moveNewest(to time: Moment) -> Int {
        times[newest] = time
        return newest
    }

    /// The slots, oldest first.
    var slots: [Int] { times.indices.map { (newest + 1 + $0) % times.count } }
}

/// The samples of one figure, in the slots of the timelines; NaN where it has none.
private struct Series {
    let node: TweakNode
    /// At one second the values, then at six the last, lowest and highest ones.
    private var numbers: [Double]

    private static let columns = 4
    static let memorySize = columns * Timeline.capacity * MemoryLayout<Double>.stride + 64

    init(_ node: TweakNode) {
        self.node = node
        numbers = Array(repeating: .nan, count: Self.columns * Timeline.capacity)
    }

    mutating func store(_ value: Double, at slot: Int, in span: Int, isNewSpan: Bool) {
        numbers[slot] = value
        let (last, low, high) = Self.places(of: span)
        if isNewSpan { (numbers[last], numbers[low], numbers[high]) = (.nan, .nan, .nan) }
        if value.isNaN { return }
        numbers[last] = value
        // Of a number and NaN they return the number.
        numbers[low] = .minimum(numbers[low], value)
        numbers[high] = .maximum(numbers[high], value)
    }

    func sample(_ slot: Int, _ rate: FigureRecorder.Rate, _ time: Moment) -> FigureRecorder.Sample? {
        let (last, low, high) = rate == .second ? (slot, slot, slot) : Self.places(of: slot)
        if numbers[last].isNaN { return nil }
        return FigureRecorder.Sample(time: time, value: numbers[last], low: numbers[low], high: numbers[high])
    }

    private static func places(of span: Int) -> (last: Int, low: Int, high: Int) {
        let place = Timeline.capacity + span
        return (place, place + Timeline.capacity, place + 2 * Timeline.capacity)
    }
}

extension TweakNode {
    /// Whether it is a number or a duration that the program publishes, and no secret.
    var isNumericFigure: Bool {
        definition.flags.contains(.readOnly) && !isSecret && [.int, .number, .duration].contains(definition.kind)
    }

    /// The value that a sample of this figure stands for.
    func value(ofSample number: Double) -> TweakValue {
        switch definition.kind {
        case .number: return .number(number)
        // The nearest double of a large number may be out of range.
        case .duration: return .duration(.nanoseconds(Int64(exactly: number) ?? (number < 0 ? .min : .max)))
        default:
            if let whole = Int64(exactly: number) { return .int(whole) }
            return UInt64(exactly: number).map { .unsigned($0) } ?? (number < 0 ? .int(.min) : .unsigned(.max))
        }
    }
}

extension TweakValue {
    /// The number that is kept of a figure, of a duration its nanoseconds.
    fileprivate var figure: Double? {
        switch self {
        case .int(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        case .duration(let value):
            Double(value.components.seconds) * 1e9 + Double(value.components.attoseconds / 1_000_000_000)
        default: nil
        }
    }
}
