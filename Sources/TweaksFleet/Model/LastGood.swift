// Defines the last good state of a fleet and its formats, for a process that starts while etcd is unavailable.

package import Tweaks
import TweaksStorage

/// The state that a process applied last, without open rollouts, which need a store that can end them.
package struct LastGood: Hashable, Sendable {
    package var position: FleetPosition
    package var keys: [EtcdKeyValue]

    package init(position: FleetPosition, keys: [EtcdKeyValue]) {
        self.position = position
        self.keys = keys
    }

    /// - Parameter good: The values in effect in place of refused ones; nil if there is none.
    package init(position: FleetPosition, desired: DesiredState, instead good: [TweakPath: ComposedValue?]) {
        self.position = position
        keys = desired.head.map { [$0.pair] } ?? []
        keys += desired.values.compactMap { path, entry in Self.pair(entry, instead: good[path]) }
        keys += desired.rollouts.values.compactMap(Self.pair)
        keys.sort { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// The key of a value for all processes.
    /// - Parameter good: If the value is refused: the one in effect instead of it, if any.
    static func pair(
        _ entry: DesiredState.Entry<DesiredValue>, instead good: ComposedValue??
    ) -> EtcdKeyValue? {
        guard let good else { return entry.pair }
        guard let good else { return nil }
        var pair = entry.pair
        pair.value = DesiredValue(value: good.value, by: good.by, at: good.at).bytes
        pair.modRevision = good.revision
        return pair
    }

    /// The key of a standing rule; nil for other rollouts.
    static func pair(_ entry: DesiredState.Entry<Rollout>) -> EtcdKeyValue? {
        entry.value.state == .done && entry.lease == 0 ? entry.pair : nil
    }
}

/// What a process has applied since it was last saved.
package enum LastGoodUpdate: Sendable {
    case whole(LastGood)
    /// Keys with their new pairs; nil if they are gone.
    case changes(FleetPosition, [[UInt8]: EtcdKeyValue?])

    package var position: FleetPosition {
        switch self {
        case .whole(let state): state.position
        case .changes(let position, _): position
        }
    }

    /// The line to append for changes; empty for a whole state, which is a file.
    package var line: [UInt8] {
        if case .changes(let position, let changes) = self { LastGood.line(changes, position) } else { [] }
    }

    /// Adds a later update.
    mutating func add(_ later: LastGoodUpdate) {
        guard case .changes(let position, let changes) = later else { return self = later }
        switch self {
        case .whole(var state):
            state.apply(changes, position)
            self = .whole(state)
        case .changes(_, let earlier): self = .changes(position, earlier.merging(changes) { $1 })
        }
    }
}

extension LastGood {
    /// Applies later changes.
    mutating func apply(_ changes: [[UInt8]: EtcdKeyValue?], _ position: FleetPosition) {
        self.position = position
        keys.removeAll { changes.keys.contains($0.key) }
        keys += changes.values.compactMap(\.self)
        keys.sort { $0.key.lexicographicallyPrecedes($1.key) }
    }
}

extension LastGood {
    private static let mark = "tweaks fleet 1 "
    /// The size limit; a larger state is not saved.
    package static let maxBytes = 64 << 20

    /// A line with a checksum, then a line of JSON.
    package var bytes: [UInt8] {
        let body: [(String, JSON)] = [
            ("cluster", .string(String(position.clusterID, radix: 16))), ("revision", .int(position.revision)),
            ("keys", .array(keys.map(Self.json))),
        ]
        let line = body.line
        return Array("\(Self.mark)\(String(FleetHash.fnv(line), radix: 16))\n".utf8) + line + [0x0A]
    }

    package init(_ bytes: [UInt8], _ names: FleetKeys) throws(FleetProblem) {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: true)
        guard lines.count == 2, lines[0].starts(with: Self.mark.utf8) else { throw FleetProblem("it is cut short") }
        let line = Array(lines[1])
        let sum = String(decoding: lines[0].dropFirst(Self.mark.utf8.count), as: UTF8.self)
        guard sum == String(FleetHash.fnv(line), radix: 16) else { throw FleetProblem("it was damaged") }
        let fields = try FleetFields(line, max: Self.maxBytes)
        position = try Self.position(fields)
        keys = []
        for element in try fields.elements("keys", max: DesiredState.maxKeys + 1) {
            keys.append(try Self.pair(element))
        }
        try check(names)
    }

    private static func position(_ fields: FleetFields) throws(FleetProblem) -> FleetPosition {
        guard let cluster = UInt64(try fields.text("cluster"), radix: 16) else {
            throw FleetProblem("“cluster” is not an ID")
        }
        let revision = try fields.count("revision")
        // Following continues at the next revision.
        guard revision < .max else { throw FleetProblem("“revision” is too large") }
        return FleetPosition(clusterID: cluster, revision: revision, head: nil)
    }

    /// Throws if keys are of another fleet; takes the head from them.
    private mutating func check(_ names: FleetKeys) throws(FleetProblem) {
        guard keys.allSatisfy({ $0.key.starts(with: names.desired) }) else {
            throw FleetProblem("it is of another fleet, or of another prefix")
        }
        position.head = nil
        if let head = keys.first(where: { $0.key == names.head }) { position.head = try FleetHead(head.value) }
    }

    /// Keys and values that could be parsed are valid UTF-8.
    private static func json(_ pair: EtcdKeyValue) -> JSON {
        .object([
            ("key", .string(String(decoding: pair.key, as: UTF8.self))),
            ("value", .string(String(decoding: pair.value, as: UTF8.self))),
            ("created", .int(pair.createRevision)), ("modified", .int(pair.modRevision)),
        ])
    }

    private static func pair(_ fields: FleetFields) throws(FleetProblem) -> EtcdKeyValue {
        EtcdKeyValue(
            key: Array(try fields.text("key", max: 16 << 10).utf8),
            value: Array(try fields.text("value", max: Rollout.maxBytes).utf8),
            createRevision: try fields.count("created"), modRevision: try fields.count("modified"))
    }
}

extension LastGood {
    /// One line of the file with later changes: a checksum, then JSON.
    static func line(_ changes: [[UInt8]: EtcdKeyValue?], _ position: FleetPosition) -> [UInt8] {
        let gone = changes.filter { $0.value == nil }.keys.sorted { $0.lexicographicallyPrecedes($1) }
        let fields: [(String, JSON)] = [
            ("cluster", .string(String(position.clusterID, radix: 16))), ("revision", .int(position.revision)),
            (
                "keys",
                .array(changes.values.compactMap(\.self).sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(json))
            ),
            ("gone", .array(gone.map { .string(String(decoding: $0, as: UTF8.self)) })),
        ]
        let line = fields.line
        return Array("\(String(FleetHash.fnv(line), radix: 16)) ".utf8) + line + [0x0A]
    }

    /// Parses a line of later changes.
    package static func changes(_ line: ArraySlice<UInt8>) throws(FleetProblem) -> LastGoodUpdate {
        let parts = line.split(separator: 0x20, maxSplits: 1)
        guard parts.count == 2, String(decoding: parts[0], as: UTF8.self) == String(FleetHash.fnv(parts[1]), radix: 16)
        else { throw FleetProblem("it was damaged") }
        let fields = try FleetFields(Array(parts[1]), max: maxBytes)
        var changes: [[UInt8]: EtcdKeyValue?] = [:]
        for key in try fields.texts("gone", max: DesiredState.maxKeys + 1) {
            changes.updateValue(nil, forKey: Array(key.utf8))
        }
        for element in try fields.elements("keys", max: DesiredState.maxKeys + 1) {
            let pair = try pair(element)
            changes[pair.key] = pair
        }
        return .changes(try position(fields), changes)
    }

    /// The state after lines of later changes, as far as they are complete.
    func followed(by lines: some Sequence<ArraySlice<UInt8>>, _ names: FleetKeys) -> LastGood {
        var update: LastGoodUpdate?
        for line in lines {
            guard let later = try? Self.changes(line) else { break }
            if update?.add(later) == nil { update = later }
        }
        guard case .changes(let position, let changes)? = update else { return self }
        var state = self
        state.apply(changes, position)
        return (try? state.check(names)) == nil ? self : state
    }
}
