// Reads and writes statuses, which have a size that they keep to.

import Tweaks

extension FleetStatus {
    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, most: 16 << 10)
        self.init(build: try fields.text("build"))
        labels = try Labels(try fields.members("labels"))
        (revision, head) = (try fields.count("revision"), try fields.whole("head"))
        (started, at) = (try fields.time("started"), try fields.time("at"))
        for element in try fields.elements("refused", most: 1_000) {
            refused.append(
                Refusal(
                    rollout: try element.optionalText("rollout"), path: try element.text("path", most: 400),
                    reason: try element.text("reason", most: 1_000)))
        }
        covered = try fields.texts("covered", most: 1_000)
        moreRefused = Int(min(try fields.count("moreRefused", or: 0), 1_000_000))
        moreCovered = Int(min(try fields.count("moreCovered", or: 0), 1_000_000))
        trouble = fields.optional("trouble") == nil ? nil : try fields.text("trouble", most: 1_000)
        isUnstable = try fields.flag("unstable")
        for (path, figure) in try fields.members("figures") {
            guard case .literal(let text) = figure, let number = Double(text), number.isFinite else {
                throw FleetProblem("the figure \(Quoting.excerpt(path)) is not a number")
            }
            figures[path] = number
        }
    }

    /// One line of JSON, of at most ``maxBytes``: what is beyond is counted.
    package var bytes: [UInt8] {
        var status = self
        status.cutTexts()
        var line = status.line
        while line.count > Self.maxBytes, status.shorten() { line = status.line }
        return line
    }

    /// Takes of each part no more than could ever fit. What refuses a rollout comes first: it stops that.
    private mutating func cutTexts() {
        build = build.cut(to: 64, cost: Self.cost)
        trouble = trouble.map { $0.cut(to: 160, cost: Self.cost) }
        refused = refused.filter { $0.rollout != nil } + refused.filter { $0.rollout == nil }
        drop(max(0, refused.count - 30), covered: max(0, covered.count - 120))
        for index in refused.indices { refused[index].reason = refused[index].reason.cut(to: 120, cost: Self.cost) }
        figures = figures.filter { $0.value.isFinite }
        if figures.count > 100 {
            figures = Dictionary(uniqueKeysWithValues: figures.sorted { $0.key < $1.key }.prefix(100).map { ($0, $1) })
        }
    }

    private mutating func drop(_ refusals: Int, covered paths: Int = 0) {
        refused.removeLast(refusals)
        covered.removeLast(paths)
        (moreRefused, moreCovered) = (moreRefused &+ refusals, moreCovered &+ paths)
    }

    /// Leaves out what matters least; false where there is nothing left to leave out.
    private mutating func shorten() -> Bool {
        if !covered.isEmpty {
            drop(0, covered: 1)
        } else if refused.count > 1, refused.last?.rollout == nil {
            drop(1)
        } else if refused.contains(where: \.isLong) {
            for index in refused.indices { refused[index].shorten() }
        } else if let path = figures.keys.max() {
            figures[path] = nil
        } else if !refused.isEmpty {
            drop(1)
        } else if !labels.isEmpty {
            // Longer ones than there can be.
            labels = [:]
        } else {
            return false
        }
        return true
    }

    /// How many bytes a text takes in JSON, without its quotes.
    fileprivate static func cost(_ text: String) -> Int { Quoting.json(text).utf8.count - 2 }

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
    private static let (mostPath, mostReason) = (100, 40)

    /// Whether it is longer than has room beside everything else. The path of a value is needed whole.
    fileprivate var isLong: Bool {
        FleetStatus.cost(reason) > Self.mostReason || rollout != nil && FleetStatus.cost(path) > Self.mostPath
    }

    fileprivate mutating func shorten() {
        reason = reason.cut(to: Self.mostReason, cost: FleetStatus.cost)
        if rollout != nil { path = path.cut(to: Self.mostPath, cost: FleetStatus.cost) }
    }

    fileprivate var json: JSON {
        var fields: [(String, JSON)] = []
        fields.add("rollout", rollout.map { .string($0) })
        return .object(fields + [("path", .string(path)), ("reason", .string(reason))])
    }
}
