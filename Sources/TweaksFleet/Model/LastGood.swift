// Saves the last good state of a fleet on disk, for a process that starts while etcd is unavailable.

package import Tweaks
import TweaksStorage
import TweaksSystem

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
        for (path, entry) in desired.values {
            var pair = entry.pair
            if let good = good[path] {
                guard let good else { continue }
                pair.value = DesiredValue(value: good.value, by: good.by, at: good.at).bytes
                pair.modRevision = good.revision
            }
            keys.append(pair)
        }
        keys += desired.rollouts.values.filter { $0.value.state == .done && $0.lease == 0 }.map(\.pair)
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
        guard let cluster = UInt64(try fields.text("cluster"), radix: 16) else {
            throw FleetProblem("“cluster” is not an ID")
        }
        keys = []
        for element in try fields.elements("keys", max: DesiredState.maxKeys + 1) {
            keys.append(try Self.pair(element))
        }
        guard keys.allSatisfy({ $0.key.starts(with: names.desired) }) else {
            throw FleetProblem("it is of another fleet, or of another prefix")
        }
        let head = keys.first { $0.key == names.head }
        let revision = try fields.count("revision")
        // Following continues at the next revision.
        guard revision < .max else { throw FleetProblem("“revision” is too large") }
        position = FleetPosition(clusterID: cluster, revision: revision, head: nil)
        if let head { position.head = try FleetHead(head.value) }
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

/// The file with the last good state, in a state directory owned by this process.
package struct LastGoodFile: Sendable {
    private let directory: String
    private let keys: FleetKeys

    package init(directory: String, keys: FleetKeys) {
        self.directory = directory
        self.keys = keys
    }

    package var name: String { "fleet-\(keys.name).json" }

    /// Returns nil if there is no file.
    package func load() throws(FleetProblem) -> LastGood? {
        let bytes: [UInt8]
        do throws(FileProblem) {
            let folder = try Folder(directory)
            guard let content = try folder.content(of: name, limit: LastGood.maxBytes) else { return nil }
            bytes = content.bytes
        } catch {
            if error.isMissing { return nil }
            throw FleetProblem("\(error)")
        }
        do throws(FleetProblem) {
            return try LastGood(bytes, keys)
        } catch {
            throw FleetProblem("\(directory)/\(name): \(error.text); it is written again when etcd has answered")
        }
    }

    package func save(_ state: LastGood) throws(FleetProblem) {
        let bytes = state.bytes
        guard bytes.count <= LastGood.maxBytes else {
            throw FleetProblem(
                "\(directory)/\(name): the state has more than \(LastGood.maxBytes) bytes; it is not kept")
        }
        do throws(FileProblem) {
            let folder = try Folder(directory)
            try folder.replace(name, with: bytes)
            try? folder.flush()
        } catch {
            throw FleetProblem("\(error)")
        }
    }
}
