// Holds what operators see before they write: all desired keys at one revision, with what etcd says of each.

package import Tweaks

/// A record, and what etcd says of its key.
package typealias Held = DesiredState.Entry

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

    package var head: Held<FleetHead>? { desired.head }
    package var values: [TweakPath: Held<DesiredValue>] { desired.values }
    package var rollouts: [String: Held<Rollout>] { desired.rollouts }
    /// Keys that cannot be read, or not be relied on, by what is wrong with each; they harm themselves alone.
    package var garbage: [[UInt8]: String] { desired.problems }

    /// When a key was last changed; 0: it does not exist.
    package func revision(of key: [UInt8]) -> Int64 { revisions[key] ?? 0 }

    /// The fleet's value.
    package func value(_ path: TweakPath) -> TweakValue? { values[path]?.value.value }

    /// Rollouts as they compose: by create revision, then ID.
    package var ordered: [Held<Rollout>] {
        rollouts.values.sorted { ($0.createRevision, $0.value.id) < ($1.createRevision, $1.value.id) }
    }

    /// The rollout that holds a path: open or paused. Standing rules hold nothing.
    package func holder(of path: TweakPath) -> Held<Rollout>? {
        ordered.first { $0.value.state != .done && $0.value.changes.contains { $0.path == path } }
    }

    /// Refuses paths that an open rollout holds.
    /// - Parameter except: This one may.
    package func checkFree(_ paths: some Sequence<TweakPath>, except: String? = nil) throws(FleetRefusal) {
        for path in paths {
            guard let holder = holder(of: path)?.value, holder.id != except else { continue }
            throw FleetRefusal(
                .refused,
                "\(path.token): rollout \(holder.id) by \(holder.by) holds it at \(holder.share.text); "
                    + "finish \(holder.id) or abort \(holder.id) first")
        }
    }

    /// The rollout of an ID.
    package func rollout(_ id: String) throws(FleetRefusal) -> Held<Rollout> {
        if let held = rollouts[id] { return held }
        if let why = garbage[keys.rollout(id)] {
            throw FleetRefusal(.refused, "rollout \(id) cannot be read: \(why); abort \(id) deletes it")
        }
        let known = ordered.map(\.value.id)
        let remedy = known.isEmpty ? "none is open" : "there are \(known.joined(separator: ", "))"
        throw FleetRefusal(.refused, "there is no rollout \(Quoting.excerpt(id)); \(remedy)")
    }

    /// The counter of the next write.
    package func nextCounter() throws(FleetRefusal) -> UInt64 {
        if head == nil, let why = garbage[keys.head] {
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
