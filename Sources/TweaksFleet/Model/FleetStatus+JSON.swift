// Reads and writes statuses, which have a size that they keep to.

import Tweaks

extension FleetStatus {
    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, most: 16 << 10)
        self.init(build: try fields.text("build"))
        labels = try Labels(fields.json["labels"])
        (revision, head) = (try fields.count("revision"), try fields.whole("head"))
        (started, at) = (try fields.time("started"), try fields.time("at"))
        for element in try fields.elements("refused", most: 1_000) {
            refused.append(
                Refusal(
                    rollout: try element.optionalText("rollout"), path: try element.text("path", most: 400),
                    reason: try element.text("reason", most: 1_000)))
        }
        covered = (fields.json["covered"]?.elements ?? []).compactMap(\.string)
        moreRefused = Int(min(try fields.count("moreRefused", or: 0), 1_000_000))
        moreCovered = Int(min(try fields.count("moreCovered", or: 0), 1_000_000))
        trouble = fields.optional("trouble") == nil ? nil : try fields.text("trouble", most: 1_000)
        isUnstable = fields.json["unstable"]?.isTrue ?? false
        for (path, figure) in fields.json["figures"]?.fields ?? [] {
            guard case .literal(let text) = figure, let number = Double(text), number.isFinite else {
                throw FleetProblem("the figure \(Quoting.excerpt(path)) is not a number")
            }
            figures[path] = number
        }
    }

    /// One line of JSON, of at most ``maxBytes``: what is beyond is counted.
    package var bytes: [UInt8] {
        var status = self
        for index in status.refused.indices {
            status.refused[index].reason = Self.cut(status.refused[index].reason, to: 120)
        }
        status.trouble = trouble.map { Self.cut($0, to: 160) }
        var line = status.line
        while line.count > Self.maxBytes, status.shorten() { line = status.line }
        return line
    }

    /// Leaves out what matters least; false where there is nothing left to leave out.
    private mutating func shorten() -> Bool {
        if covered.popLast() != nil {
            moreCovered += 1
        } else if refused.count > 1 {
            refused.removeLast()
            moreRefused += 1
        } else if let path = figures.keys.max() {
            figures[path] = nil
        } else if refused.popLast() != nil {
            moreRefused += 1
        } else {
            return false
        }
        return true
    }

    private static func cut(_ text: String, to most: Int) -> String {
        if text.utf8.count <= most { return text }
        var short = ""
        for character in text {
            guard short.utf8.count + character.utf8.count <= most - 3 else { break }
            short.append(character)
        }
        return short + "…"
    }

    private var line: [UInt8] {
        var fields: [(String, JSON)] = [
            ("build", .string(build)), ("revision", .int(revision)), ("head", .unsigned(head)),
            ("started", .time(started)), ("at", .time(at)),
        ]
        if !labels.isEmpty { fields.add("labels", labels.json) }
        if !refused.isEmpty { fields.add("refused", .array(refused.map(\.json))) }
        if moreRefused > 0 { fields.add("moreRefused", .count(moreRefused)) }
        if !covered.isEmpty { fields.add("covered", .array(covered.map { .string($0) })) }
        if moreCovered > 0 { fields.add("moreCovered", .count(moreCovered)) }
        fields.add("trouble", trouble.map { .string($0) })
        if isUnstable { fields.add("unstable", .bool(true)) }
        if !figures.isEmpty {
            fields.add("figures", .object(figures.sorted { $0.key < $1.key }.map { ($0.key, .number($0.value)) }))
        }
        return fields.line
    }
}

extension FleetStatus.Refusal {
    fileprivate var json: JSON {
        var fields: [(String, JSON)] = []
        fields.add("rollout", rollout.map { .string($0) })
        return .object(fields + [("path", .string(path)), ("reason", .string(reason))])
    }
}
