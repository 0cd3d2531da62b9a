// Holds the state that an operator's command is validated against: all desired keys at one revision.

package import Tweaks

/// A parsed record with the etcd metadata of its key.
package typealias VersionedRecord = DesiredState.Entry

/// The desired keys of a fleet at one revision.
package struct OperatorView: Sendable {
    package let header: EtcdHeader
    package let desired: DesiredState
    /// Log entries to delete with the next write.
    package var outdated: [[UInt8]] = []
    private let revisions: [[UInt8]: Int64]
    private let keys: FleetKeys

    package init(_ result: EtcdRangeResult, _ keys: FleetKeys) {
        (header, self.keys) = (result.header, keys)
        var desired = DesiredState(keys: keys)
        desired.replace(with: result.keys)
        self.desired = desired
        revisions = Dictionary(result.keys.map { ($0.key, $0.modRevision) }) { first, _ in first }
    }

    package var head: VersionedRecord<FleetHead>? { desired.head }
    package var values: [TweakPath: VersionedRecord<DesiredValue>] { desired.values }
    package var rollouts: [String: VersionedRecord<Rollout>] { desired.rollouts }
    /// Unreadable or unreliable keys, with the reason for each; they do not affect other keys.
    package var unreadable: [[UInt8]: String] { desired.problems }

    /// The revision at which a key was last changed; 0 if it does not exist.
    package func revision(of key: [UInt8]) -> Int64 { revisions[key] ?? 0 }

    /// The fleet's value of a path.
    package func value(_ path: TweakPath) -> TweakValue? { values[path]?.value.value }

    /// Rollouts in the order in which they apply: by create revision, then ID.
    package var ordered: [VersionedRecord<Rollout>] {
        rollouts.values.sorted { ($0.createRevision, $0.value.id) < ($1.createRevision, $1.value.id) }
    }

    /// The open or paused rollout that reserves a path. Standing rules reserve nothing.
    package func openRollout(for path: TweakPath) -> VersionedRecord<Rollout>? {
        ordered.first { $0.value.state != .done && $0.value.changes.contains { $0.path == path } }
    }

    /// Throws if an open rollout reserves one of the paths.
    /// - Parameter except: The ID of a rollout to ignore.
    package func checkFree(_ paths: some Sequence<TweakPath>, except: String? = nil) throws(FleetRefusal) {
        for path in paths {
            guard let owner = openRollout(for: path)?.value, owner.id != except else { continue }
            throw FleetRefusal(
                .refused,
                "\(path.token): rollout \(owner.id) by \(owner.by) holds it at \(owner.share.text); "
                    + "finish \(owner.id) or abort \(owner.id) first")
        }
    }

    /// The rollout with an ID.
    package func rollout(_ id: String) throws(FleetRefusal) -> VersionedRecord<Rollout> {
        if let record = rollouts[id] { return record }
        if let why = unreadable[keys.rollout(id)] {
            throw FleetRefusal(.refused, "rollout \(id) cannot be read: \(why); abort \(id) deletes it")
        }
        let known = ordered.map(\.value.id)
        let remedy = known.isEmpty ? "none is open" : "there are \(known.joined(separator: ", "))"
        throw FleetRefusal(.refused, "there is no rollout \(Quoting.excerpt(id)); \(remedy)")
    }

    /// The counter of the next write.
    package func nextCounter() throws(FleetRefusal) -> UInt64 {
        if head == nil, let why = unreadable[keys.head] {
            throw FleetRefusal(.refused, "\(keys.name): its head cannot be read: \(why); adopt writes a new one")
        }
        return try Self.after(head?.value.counter ?? 0)
    }

    static func after(_ counter: UInt64) throws(FleetRefusal) -> UInt64 {
        let (next, overflow) = counter.addingReportingOverflow(1)
        if overflow { throw FleetRefusal(.refused, "the head's counter is at its end; use another prefix") }
        return next
    }
}
