// Freezes a fleet for a while: every write compares that it is not frozen, in its own transaction.

import Tweaks

/// `freezes/NAME`: a reason to change nothing, under a lease if it ends by itself.
package struct FleetFreeze: Hashable, Sendable {
    package var reason: String
    package var by: String
    package var at: Int64
    /// About when it ends, in milliseconds since 1970; its lease decides. Nil if it is ended by hand.
    package var until: Int64?

    package init(reason: String, by: String, at: Int64, until: Int64? = nil) {
        self.reason = reason
        self.by = by
        self.at = at
        self.until = until
    }

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: 4_096)
        self.init(
            reason: try fields.text("reason", max: 500), by: try fields.text("by"), at: try fields.time("at"),
            until: try fields.optionalTime("until"))
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        var fields: [(String, JSON)] = [("reason", .text(reason, max: 500))]
        fields.add("until", until.map { .time($0) })
        return (fields + [("by", .text(by)), ("at", .time(at))]).line
    }

    /// Names have the letters of instance IDs.
    package static func isName(_ text: String) -> Bool { FleetInstance.isID(text) }
}

extension FleetOperator {
    /// The freezes by name; nil for one that cannot be read, which counts all the same.
    package func freezes() async throws(FleetRefusal) -> [(name: String, freeze: FleetFreeze?)] {
        try await range(.prefix(keys.freezes)).keys.map { pair in
            (String(decoding: pair.key.dropFirst(keys.freezes.count), as: UTF8.self), try? FleetFreeze(pair.value))
        }
    }

    /// Throws if the fleet is frozen.
    func checkFreezes() async throws(FleetRefusal) {
        guard let (name, freeze) = try await freezes().first else { return }
        let until = freeze?.until.map { ", until about \(TimeText.seconds($0))" } ?? ""
        let text = freeze.map { " by \($0.by)\(until): \($0.reason)" } ?? ""
        let shown = Quoting.sanitized("\(name)\(text)")
        throw FleetRefusal(.suspended, "\(keys.name) is frozen: \(shown); wait, or unfreeze \(Quoting.sanitized(name))")
    }

    /// Freezes the fleet: nothing is written but what stops a rollout, until the freeze ends.
    /// - Parameter seconds: Ends it after at least this time; nil for a freeze that is ended by hand.
    package func freeze(
        _ name: String, because reason: String, seconds: Int64? = nil
    ) async throws(FleetRefusal) -> FleetReceipt {
        guard FleetFreeze.isName(name) else {
            throw FleetRefusal(
                .usage,
                "\(Quoting.excerpt(name)): name a freeze with letters, digits, “.”, “_”, “-” and “:”, at most 63")
        }
        let key = keys.freeze(name)
        let lease: EtcdLease? = if let seconds, !isDryRun { try await grant(seconds: seconds) } else { nil }
        let record = FleetFreeze(
            reason: reason, by: by, at: now(), until: seconds.map { now().adding(seconds: $0) })
        do throws(FleetRefusal) {
            return try await write("freeze") { _ async throws(FleetRefusal) in
                if try await !range(.key(key), keysOnly: true).keys.isEmpty {
                    throw FleetRefusal("there is already a freeze \(name); unfreeze it first, or use another name")
                }
                var edit = FleetEdit("freeze", "freeze \(name)")
                edit.why = "\(name): \(reason)"
                edit.operations = [.put(key: key, value: record.bytes, lease: lease?.id ?? 0)]
                return edit
            }
        } catch {
            if let lease { try? await etcd.revokeLease(lease.id) }
            throw error
        }
    }

    package func unfreeze(_ name: String) async throws(FleetRefusal) -> FleetReceipt {
        let key = keys.freeze(name)
        return try await write("unfreeze") { _ async throws(FleetRefusal) in
            guard let pair = try await range(.key(key), keysOnly: true).keys.first else {
                throw try await unknownFreeze(name)
            }
            var edit = FleetEdit("unfreeze", "unfreeze \(name)")
            edit.why = name
            edit.operations = [.delete(.key(key))]
            edit.revisions[key] = pair.modRevision
            return edit
        }
    }

    private func unknownFreeze(_ name: String) async throws(FleetRefusal) -> FleetRefusal {
        let known = try await freezes().map(\.name)
        let remedy = known.isEmpty ? "the fleet is not frozen" : "there is \(known.joined(separator: ", "))"
        return FleetRefusal("there is no freeze \(Quoting.excerpt(name)); \(Quoting.sanitized(remedy))")
    }
}
