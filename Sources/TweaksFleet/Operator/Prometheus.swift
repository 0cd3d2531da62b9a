// Asks Prometheus for the results of queries, and remembers which of them meet the conditions of a rollout.

import Tweaks
import TweaksSystem

/// A Prometheus server. It needs no account: where one does, a tunnel or a proxy on this machine signs in.
package struct Prometheus: Sendable {
    /// `http://HOST[:PORT][/PATH]`
    private let url: String
    private let transport: any EtcdTransport
    private let timeout: Duration

    /// - Parameter url: Its address, with the path before `/api/v1` if it has one.
    package init(_ url: String, timeout: Duration = .seconds(10)) throws(FleetProblem) {
        try self.init(url, timeout: timeout, SocketTransport())
    }

    init(_ url: String, timeout: Duration = .seconds(10), _ transport: any EtcdTransport) throws(FleetProblem) {
        var text = url[...]
        while text.hasSuffix("/") { text = text.dropLast() }
        let shown = Quoting.excerpt(url)
        if url.lowercased().hasPrefix("https://") {
            throw FleetProblem("\(shown) asks for TLS; let a tunnel on this machine speak it, and name its http:// URL")
        }
        guard Quoting.isSafe(url), !text.utf8.contains(where: { " @?#".utf8.contains($0) }),
            let address = EtcdAddress(String(text)), address.port > 0
        else { throw FleetProblem("\(shown) is not a URL of Prometheus; write http://HOST:9090") }
        self.url = String(text)
        self.transport = transport
        self.timeout = timeout
    }

    /// Evaluates a query now. The format: https://prometheus.io/docs/prometheus/latest/querying/api/#instant-queries
    package func answer(to query: String) async -> PrometheusAnswer {
        do throws(EtcdTransportError) {
            let reply = try await transport.post(
                "\(url)/api/v1/query", Array("query=\(Self.encoded(query))".utf8),
                headers: ["Content-Type": "application/x-www-form-urlencoded"], timeout: timeout)
            return PrometheusAnswer(status: reply.status, reply.body)
        } catch {
            return .problem(FleetRefusal(error.error).description.replacingPrefix("etcd: ", with: ""))
        }
    }

    /// The bytes that a form's value must not have become `%XX`: https://url.spec.whatwg.org/#urlencoded-serializing
    private static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                bytes.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The answer to one query.
package enum PrometheusAnswer: Hashable, Sendable {
    /// The numbers of all series; none if no series matches.
    case results([Double])
    case problem(String)

    /// The maximum number of values in an answer: a query for more has no place in a condition.
    private static let maxValues = 200_000

    init(status: Int, _ body: [UInt8]) {
        guard let json = try? JSON(body, maxValues: Self.maxValues) else {
            self = .problem("it answers \(status) with something that is not JSON; is this Prometheus?")
            return
        }
        if let error = json["error"]?.string {
            let text = Quoting.sanitized(error).cut(to: 200) { $0.utf8.count }
            self = .problem(text.isEmpty ? "it answers \(status) without a reason" : text)
            return
        }
        let data = json["data"]
        switch (data?["resultType"]?.string, data?["result"]) {
        case ("scalar"?, .array(let sample)?): self = Self.results([Self.number(sample)])
        case ("vector"?, .array(let series)?):
            self = Self.results(
                series.map { element in
                    if case .array(let sample)? = element["value"] { Self.number(sample) } else { nil }
                })
        default: self = .problem("it answers \(status) without a number for each series; use a query that gives one")
        }
    }

    private static func results(_ numbers: [Double?]) -> PrometheusAnswer {
        let known = numbers.compactMap(\.self)
        return known.count == numbers.count
            ? .results(known) : .problem("there is something in it that is not a number")
    }

    /// The number of a sample: `[1435781451.781, "1"]`.
    private static func number(_ sample: [JSON]) -> Double? {
        guard sample.count == 2, let text = sample[1].string else { return nil }
        switch text {
        case "+Inf", "Inf": return .infinity
        case "-Inf": return -.infinity
        case "NaN": return .nan
        default: return Double(text)
        }
    }
}

extension String {
    fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}

/// The answers to a rollout's queries since its step began.
package struct PrometheusSamples: Sendable {
    fileprivate struct Series {
        /// The number of answers with a result.
        var count = 0
        /// The number of consecutive answers that meet the condition.
        var streak = 0
        var worst: Double?
        /// The number of results that meet it in the last answer.
        var violators = 0
        var problem = "it has not answered yet"
        var seen: Moment
    }

    private var series: [Series] = []
    /// When the step was first seen: what was asked before belongs to the last one.
    private var begun: Moment?

    init() {}

    /// Starts a new step.
    mutating func begin(_ now: Moment) { (series, begun) = ([], now) }

    /// Records the answers to the rollout's conditions, in their order.
    mutating func record(_ answers: [PrometheusAnswer], askedAt: Moment, _ rollout: Rollout, _ now: Moment) {
        let conditions = rollout.abortIfPrometheus
        guard let begun, askedAt >= begun, answers.count == conditions.count else { return }
        if series.count != conditions.count { series = conditions.map { _ in Series(seen: begun) } }
        for (position, condition) in conditions.enumerated() {
            series[position].record(answers[position], condition, now)
        }
    }

    /// Returns the condition that aborts the rollout.
    func violation(of rollout: Rollout) -> String? {
        for (condition, series) in zip(rollout.abortIfPrometheus, series) where series.streak >= condition.samples {
            let worst = series.worst.map { ": \(Self.text($0))" } ?? ""
            return "Prometheus: \(condition.text)\(worst)"
        }
        return nil
    }

    /// Whether there are enough answers for a decision.
    func areComplete(_ rollout: Rollout) -> Bool {
        let conditions = rollout.abortIfPrometheus
        return series.count == conditions.count && zip(conditions, series).allSatisfy { $0.samples <= $1.count }
            || conditions.isEmpty
    }

    /// Why there was no result for a while; nil if there was one.
    func problem(of rollout: Rollout, now: Moment, after timeout: Duration) -> String? {
        guard let begun, !rollout.abortIfPrometheus.isEmpty, now - begun >= timeout else { return nil }
        if series.isEmpty { return "Prometheus has not answered yet" }
        for (condition, series) in zip(rollout.abortIfPrometheus, series) where now - series.seen >= timeout {
            return "Prometheus: \(condition.query): \(series.problem)"
        }
        return nil
    }

    func conditionStates(_ rollout: Rollout) -> [MetricSamples.ConditionState] {
        rollout.abortIfPrometheus.enumerated().map { position, condition in
            let series = series.indices.contains(position) ? series[position] : nil
            return MetricSamples.ConditionState(
                condition: condition.text, violators: series?.violators ?? 0,
                worst: series?.worst.flatMap { $0.isFinite ? $0 : nil })
        }
    }

    fileprivate static func text(_ number: Double) -> String {
        number.isFinite ? TweakValue.number(number).text : number > 0 ? "infinite" : "minus infinite"
    }
}

extension PrometheusSamples.Series {
    fileprivate mutating func record(_ answer: PrometheusAnswer, _ condition: PrometheusCondition, _ now: Moment) {
        guard case .results(let all) = answer else {
            if case .problem(let text) = answer { problem = text }
            return
        }
        let results = all.filter { !$0.isNaN }
        if results.isEmpty {
            problem = "no series matches; end the query with “or vector(0)” if that is well"
            return
        }
        count += 1
        seen = now
        violators = results.count(where: condition.isMet)
        worst = condition.comparison.isHigherWorse ? results.max() : results.min()
        streak = violators > 0 ? streak + 1 : 0
    }
}
