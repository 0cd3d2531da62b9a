// Measures times: several rounds, both sides in turn, medians and percentiles.

/// Measures times.
enum Measure {
    /// The nanoseconds that `body` takes.
    @inline(never)
    static func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return (ContinuousClock.now - start) / .nanoseconds(1)
    }

    /// The median times per operation of two loops that run in turn.
    static func pair(
        rounds: Int = 15, operations: Int, _ ours: () throws -> Void, _ theirs: () throws -> Void
    ) rethrows -> (ours: Double, theirs: Double) {
        var times: (ours: [Double], theirs: [Double]) = ([], [])
        for _ in 0..<rounds {
            times.ours.append(try nanoseconds(ours) / Double(operations))
            times.theirs.append(try nanoseconds(theirs) / Double(operations))
        }
        return (median(times.ours), median(times.theirs))
    }

    static func median(_ values: [Double]) -> Double { percentile(values, 0.5) }

    static func percentile(_ values: [Double], _ fraction: Double) -> Double {
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * fraction))]
    }

    /// Prevents the optimizer from removing a value, and from assuming that an object stays unchanged.
    @inline(never)
    @_optimize(none)
    static func keep<Value>(_ value: Value) {}
}
