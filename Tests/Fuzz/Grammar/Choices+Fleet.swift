// Produces the keys of a fleet as any program can write them, and answers of etcd to an operator, with extreme numbers.

import Tweaks

/// A key below the prefix of its fleet, and its value.
package struct FleetPair: Sendable {
    package var key: String
    package var value: String
}

extension Choices {
    // MARK: Numbers

    private mutating func total() -> String {
        below(8) == 7 ? counterOfJSON() : pick(["0", "1", "5", "1000", "9223372036854775806", "9223372036854775807"])
    }

    private mutating func unsigned() -> String { below(3) == 0 ? "18446744073709551615" : total() }

    private mutating func revision() -> String {
        below(256) == 255 ? counterOfJSON() : pick(["1", "5", "5", "6", "9223372036854775806"])
    }

    private mutating func seconds() -> String {
        below(8) == 7 ? counterOfJSON() : pick(["1", "60", "300", "1000000000"])
    }

    private mutating func share() -> String {
        below(8) == 7 ? numberOfJSON() : pick(["0", "0.01", "12.5", "50", "99.99", "100"])
    }

    private mutating func figure() -> String {
        let limits = ["0", "6", "-1.7976931348623157e308", "1.7976931348623157e308", "5e-324", "9223372036854775808"]
        return below(4) == 3 ? numberOfJSON() : pick(limits)
    }

    private mutating func moment() -> String {
        let limits = [
            "2026-11-27T01:20:00Z", "2026-11-22T01:20:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z",
            "1969-12-31T23:59:59.999Z", "2026-11-22T01:19:59.999Z",
        ]
        return "\"" + (below(8) == 7 ? date() : pick(limits)) + "\""
    }

    // MARK: Records

    private static let paths = ["Sample/Bound/int", "Sample/Bound/number", "Sample/Free/time", "Sample/Free/text"]

    /// A text that fits into a field of a record, or not.
    private mutating func name() -> String {
        below(8) == 7 ? Quoting.json(value()) : Quoting.json(pick(["ana", "", "a\u{1B}[2J", "\u{202E}ana", "🏳️‍🌈"]))
    }

    private mutating func stamp() -> String { "\"by\":\(name()),\"at\":\(moment())" }

    private mutating func longTime() -> String {
        below(4) == 3
            ? duration() : pick(["250ms", "-106751d", "9223372036.854775807s", "0s", "-9223372036854775808ns"])
    }

    private mutating func typed() -> String {
        switch below(6) {
        case 0: "\"kind\":\"int\",\"value\":\(total())"
        case 1: "\"kind\":\"number\",\"value\":\(figure())"
        case 2: "\"kind\":\"duration\",\"value\":\"\(longTime())\""
        case 3: "\"kind\":\"string\",\"value\":\(Quoting.json(value()))"
        case 4: "\"kind\":\"bool\",\"value\":true"
        default: "\"kind\":\"list\",\"of\":\"number\",\"value\":[\(several(3, separator: ",") { $0.figure() })]"
        }
    }

    private mutating func rollout(_ id: String) -> String {
        let path = pick(Self.paths)
        let strata = strata()
        var fields = [
            "\"id\":\"\(id)\"", "\"changes\":[{\"path\":\"\(path)\",\(typed()),\"found\":{\(typed())}}]",
            "\"percent\":\(strata.isEmpty ? share() : pick(["0", "0", "100", share()]))",
            "\"state\":\"\(pick(["open", "paused", "done"]))\"",
            "\"steps\":[\(pick(["100", "0.01,12.5,100", "12.5,\(share())"]))]", stamp(),
        ]
        for name in ["everySeconds", "lifetimeSeconds", "confirmSeconds"] where below(3) == 0 {
            fields.append("\"\(name)\":\(seconds())")
        }
        fields += strata
        if below(3) == 0 { fields.append("\"handed\":true") }
        if below(4) == 0 {
            let query = pick(["up", "rate(e[1m]) > bool 2", "", "\u{202E}up"])
            let text = "\(query) \(pick([">", "<="])) \(figure())\(pick(["", " for 20 samples", " × others"]))"
            fields.append("\"abortIfPrometheus\":[\(Quoting.json(text))]")
        }
        if below(3) == 0 { fields.append("\"members\":\(total()),\"membersAt\":\(total()),\"timer\":true") }
        for name in ["next", "confirmBy"] where below(3) == 0 { fields.append("\"\(name)\":\(moment())") }
        if below(2) == 0 {
            let end = pick([
                "", "", " × others", "x others", " for 3 samples", " * others for 20 samples", " for 0 samples",
            ])
            let name = end.isEmpty ? "abortIf" : "abortIfCompared"
            fields.append("\"\(name)\":[\(Quoting.json("A/B/C \(pick([">", "<", ">=", "<="])) \(figure())\(end)"))]")
        }
        return "{" + fields.joined(separator: ",") + "}"
    }

    /// The fields of a rollout that decide which processes come first.
    private mutating func strata() -> [String] {
        var fields: [String] = []
        if below(4) == 0 { fields.append("\"seed\":\(Quoting.json(pick(["kept", "a:1", "", "a b"])))") }
        if below(4) == 0 { fields.append("\"canary\":{\"zone\":\(Quoting.json(pick(["eu", "us", ""])))}") }
        if below(3) == 0 {
            let cutoffs = several(3, separator: ",") { choices in
                let stratum = choices.pick(["", "\"stratum\":\"eu\",", "\"stratum\":\"us\","])
                let hash = choices.pick([
                    "\"0000000000000000\"", "\"ffffffffffffffff\"", "\"8000000000000000\"", "\"+fffffffffffffff\"", "7",
                ])
                return "{\(stratum)\"hash\":\(hash),\"id\":\"i\(choices.below(4))\"}"
            }
            fields.append("\"per\":\"\(pick(["zone", "host", "a b"]))\",\"cutoffs\":[\(cutoffs)]")
        }
        return fields.isEmpty ? [] : fields + ["\"share\":\(share())"]
    }

    private mutating func instanceStatus() -> String {
        var fields = [
            "\"build\":\"\(pick(["00000000000000aa", "bb"]))\"", "\"revision\":\(total())", "\"head\":\(unsigned())",
            "\"started\":\(moment())", "\"at\":\(moment())", "\"figures\":{\"A/B/C\":\(figure())}",
        ]
        if below(2) == 0 { fields.append("\"edition\":\(total()),\"labels\":{\"zone\":\"\(pick(["eu", "us"]))\"}") }
        if below(2) == 0 { fields.append("\"moreRefused\":\(total()),\"moreCovered\":\(total())") }
        if below(2) == 0 { fields.append("\"covered\":[\"\(pick(Self.paths))\"],\"unstable\":true") }
        if below(2) == 0 {
            fields.append("\"host\":\(name()),\"overrides\":{\(name()):\(pick(["null", "7", name()]))}")
            fields.append("\"moreOverrides\":\(total())")
        }
        if below(3) == 0 {
            let rollout = pick(["", "\"rollout\":\"r1\","])
            fields.append("\"refused\":[{\(rollout)\"path\":\"\(pick(Self.paths))\",\"reason\":\(name())}]")
        }
        if below(3) == 0 { fields.append("\"trouble\":\(name())") }
        for name in ["left", "sampledAt"] where below(4) == 0 { fields.append("\"\(name)\":\(moment())") }
        return "{" + fields.joined(separator: ",") + "}"
    }

    private mutating func limit(_ kind: String) -> String {
        if below(32) == 31 { return kind == "number" ? figure() : total() }
        return pick(["1", "100", "9223372036854775807"])
    }

    private mutating func buildOfFleet() -> String {
        let tweaks = Self.paths.map { path in
            let kind = pick(["int", "number", "duration"])
            let limits = ["default", "min", "max", "step"].map { "\"\($0)\":\(limit(kind))" }
            return "{\"path\":\"\(path)\",\"kind\":\"\(kind)\",\"maxLength\":\(limit("int")),"
                + limits.joined(separator: ",") + "}"
        }
        return "{\"tweaks\":[\(tweaks.joined(separator: ","))]}"
    }

    private mutating func logEntry() -> String {
        let verb = pick(["set", "reset", "undo", "finish", "abort", "adopt", "rollout", "step", "schedule", "pause"])
        var fields = ["\"sequence\":\(unsigned())", "\"verb\":\"\(verb)\""]
        if below(2) == 0 { fields.append("\"rollout\":\"\(pick(["r1", "r2", "r3"]))\"") }
        if below(3) == 0 { fields.append("\"lifetimeSeconds\":\(seconds())") }
        if below(4) > 0 {
            let values = "\"old\":{\(typed())},\"new\":{\(typed())}"
            fields.append("\"changes\":[{\"path\":\"\(pick(Self.paths))\",\(values)}]")
        }
        return "{\(fields.joined(separator: ",")),\(stamp())}"
    }

    // MARK: Prometheus

    /// The answer to an instant query, or something like it.
    package mutating func resultOfQuery() -> String {
        func sample(_ choices: inout Choices) -> String {
            let numbers = ["\"1\"", "\"+Inf\"", "\"NaN\"", "\"-1e999\"", "7", "\"\"", choices.numberOfJSON()]
            return "[\(choices.numberOfJSON()),\(choices.pick(numbers))]"
        }
        let kind = pick(["vector", "scalar", "matrix", "string"])
        let series = several(3, separator: ",") { "{\"metric\":{},\"value\":\(sample(&$0))}" }
        let result = kind == "scalar" ? sample(&self) : "[\(series)]"
        let text = "{\"status\":\"success\",\"data\":{\"resultType\":\"\(kind)\",\"result\":\(result)}}"
        switch below(8) {
        case 6: return "{\"status\":\"error\",\"error\":\(name())}"
        case 7: return String(decoding: mutated(text), as: UTF8.self)
        default: return text
        }
    }

    // MARK: Keys

    /// The keys of a fleet. One of them can be mutated, and two may belong to other programs.
    package mutating func fleetPairs() -> [FleetPair] {
        var pairs = [
            FleetPair(
                key: "desired/head",
                value: "{\"counter\":\(unsigned()),\"adopted\":\(unsigned()),\"what\":\(name()),\(stamp())}")
        ]
        for path in Self.paths where below(2) == 0 {
            pairs.append(FleetPair(key: "desired/values/\(path)", value: "{\(typed()),\(stamp())}"))
        }
        for id in ["r1", "r2"] { pairs.append(FleetPair(key: "desired/rollouts/\(id)", value: rollout(id))) }
        for number in 0..<below(7) {
            let start = pick(["1", "2", "-9223372036854775808", "9223372036854775807"])
            pairs.append(FleetPair(key: "instances/i\(number % 4)/\(start)", value: instanceStatus()))
        }
        pairs.append(FleetPair(key: "builds/00000000000000aa", value: buildOfFleet()))
        for number in 0..<below(4) { pairs.append(FleetPair(key: "log/00000000000\(number)", value: logEntry())) }
        pairs.append(
            FleetPair(key: "driver/r1", value: "{\"host\":\(name()),\"pid\":\(total()),\(stamp())}"))
        if below(2) == 0 { pairs.append(FleetPair(key: "scheduled/r3", value: rollout(pick(["r3", "r3", "r1"])))) }
        if below(2) == 0 {
            let leader = "{\"host\":\(name()),\"pid\":\(total()),\"prometheus\":\(pick(["true", "0"])),\(stamp())}"
            pairs.append(FleetPair(key: "claims/drive", value: leader))
        }
        if below(3) == 0 { pairs.append(FleetPair(key: "desired/\(value())", value: json())) }
        if below(3) == 0 {
            let index = below(pairs.count)
            pairs[index].value = String(decoding: mutated(pairs[index].value), as: UTF8.self)
        }
        return pairs
    }

    // MARK: Answers of etcd

    private mutating func header() -> String {
        "\"header\":{\"cluster_id\":\"\(unsigned())\",\"revision\":\"\(revision())\"}"
    }

    /// The answer to a range.
    /// - Parameter prefix: The prefix of the fleet's keys.
    package mutating func page(of pairs: [FleetPair], below prefix: String) -> String {
        let kvs = pairs.map { pair in
            "{\"key\":\"\(base64(Array((prefix + pair.key).utf8)))\",\"value\":\"\(base64(Array(pair.value.utf8)))\","
                + "\"create_revision\":\"\(revision())\",\"mod_revision\":\"\(revision())\",\"version\":\"\(total())\","
                + "\"lease\":\"\(pick(["0", "0", "0", "0", "-9223372036854775808", "9223372036854775807"]))\"}"
        }
        return "{\(header()),\"kvs\":[\(kvs.joined(separator: ","))],\"count\":\"\(pick(["", "-"]))\(total())\"}"
    }

    /// The answer to a transaction, which seldom fails.
    package mutating func outcome() -> String {
        "{\(header()),\"succeeded\":\(below(8) == 7 ? "false" : "true"),\"responses\":[]}"
    }

    /// The answer to a grant.
    package mutating func grant() -> String { "{\(header()),\"ID\":\"\(total())\",\"TTL\":\"\(total())\"}" }

    /// The status of a member.
    package mutating func member() -> String {
        "{\(header()),\"version\":\(name()),\"leader\":\"\(unsigned())\","
            + "\"dbSize\":\"\(pick(["", "-"]))\(total())\",\"errors\":[\"alarm:\(pick(["NOSPACE", "CORRUPT", "X"]))\"]}"
    }
}
