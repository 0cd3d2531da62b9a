// Records the figures of a rollout's conditions over time: the median of its members, and of the other processes.

import Tweaks
import TweaksFleet

/// The figures of open rollouts since this program has started.
struct RolloutCharts {
    /// The figures of one moment.
    struct Sample: Equatable {
        /// Milliseconds since 1970.
        var at: Int64
        /// The medians; nil where no process sends the figure.
        var members: Double?
        var others: Double?
    }

    private struct Key: Hashable {
        var rollout: String
        var path: TweakPath
    }

    /// The samples of one figure, at growing distances: bounded, however long a rollout takes.
    private struct Series {
        var samples: [Sample] = []
        /// In milliseconds.
        var period: Int64

        mutating func add(_ sample: Sample) {
            if let last = samples.last, sample.at - last.at < period, sample.at >= last.at { return }
            samples.append(sample)
            if samples.count <= RolloutCharts.maxSamples { return }
            // Every second one remains, from the newest on.
            samples = samples.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            period *= 2
        }
    }

    static let maxSamples = 361
    /// The first distance between two samples, in milliseconds: processes report every few seconds.
    static let firstPeriod: Int64 = 2_000

    private var series: [Key: Series] = [:]
    private let period: Int64

    /// - Parameter period: The first distance between two samples, in milliseconds.
    init(period: Int64 = RolloutCharts.firstPeriod) { self.period = period }

    /// Records the figures of now, and forgets rollouts that have ended.
    mutating func record(_ rollouts: [Rollout], _ live: [LiveInstance], at now: Int64) {
        let open = rollouts.filter { $0.state != .done && !$0.abortIf.isEmpty }
        var keys: Set<Key> = []
        for rollout in open {
            let members = live.filter { rollout.includes($0.instance) }
            let others = live.filter { !rollout.includes($0.instance) }
            for path in Set(rollout.abortIf.map(\.path)) {
                let key = Key(rollout: rollout.id, path: path)
                keys.insert(key)
                let sample = Sample(at: now, members: Self.median(members, path), others: Self.median(others, path))
                if sample.members == nil, sample.others == nil { continue }
                series[key, default: Series(period: period)].add(sample)
            }
        }
        series = series.filter { keys.contains($0.key) }
    }

    func samples(_ rollout: String, _ path: TweakPath) -> [Sample] {
        series[Key(rollout: rollout, path: path)]?.samples ?? []
    }

    private static func median(_ processes: [LiveInstance], _ path: TweakPath) -> Double? {
        let sorted = processes.compactMap { $0.status.metrics[path.joined] }.sorted()
        guard let upper = sorted.dropFirst(sorted.count / 2).first else { return nil }
        // Of two in the middle the mean, by halves, whose sum cannot overflow.
        return sorted.count % 2 == 0 ? sorted[sorted.count / 2 - 1] / 2 + upper / 2 : upper
    }
}
