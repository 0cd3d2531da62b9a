// Defines the conditions that abort a rollout by what Prometheus knows: a query, and a limit for each of its results.

import Tweaks

/// A comparison of the results of a query, which aborts a rollout: `sum(rate(errors_total[1m])) > 5 for 3 samples`.
package struct PrometheusCondition: Hashable, Sendable {
    /// PromQL: https://prometheus.io/docs/prometheus/latest/querying/basics/
    package var query: String
    package var comparison: MetricCondition.Comparison
    package var limit: Double
    /// The number of consecutive answers with a result that meets it.
    package var samples = 2

    /// The size limit of its text in bytes.
    package static let maxBytes = 2_000

    /// Parses `QUERY > NUMBER`, which `for 3 samples` may follow. The last comparison is the condition's own.
    package init?(parsing text: String) {
        guard text.utf8.count <= Self.maxBytes, Quoting.isSafe(text),
            let (query, comparison, limit) = MetricCondition.parts(of: text), !limit.isRelative, !query.isEmpty
        else { return nil }
        (self.query, self.comparison) = (query, comparison)
        (self.limit, samples) = (limit.number, limit.samples)
        // It is stored in this form, which can be longer.
        if self.text.utf8.count > Self.maxBytes { return nil }
    }

    package var text: String {
        "\(query) \(comparison.rawValue) \(TweakValue.number(limit).text)\(MetricCondition.text(samples: samples))"
    }

    func isMet(by result: Double) -> Bool { comparison.holds(result, limit) }
}
