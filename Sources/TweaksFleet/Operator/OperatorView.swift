// Holds what operators see before they write: all desired keys at one revision, with what etcd says of each.

package import Tweaks

/// A record with its key's revisions and lease.
package struct Held<Record: Hashable & Sendable>: Hashable, Sendable {
    package var record: Record
    package var createRevision: Int64
    package var modRevision: Int64
    /// 0: none.
    package var lease: Int64

    init(_ record: Record, _ pair: EtcdKeyValue) {
        self.record = record
        (createRevision, modRevision, lease) = (pair.createRevision, pair.modRevision, pair.lease)
    }
}

/// The desired keys of a fleet at one revision.
package struct OperatorView: Sendable {
    package let header: EtcdHeader
    package private(set) var head: Held<FleetHead>?
    package private(set) var values: [TweakPath: Held<DesiredValue>] = [:]
    package private(set) var rollouts: [String: Held<Rollout>] = [:]
    /// Keys that cannot be read, by what is wrong with each; they harm themselves alone.
    package private(set) var garbage: [[UInt8]: String] = [:]
    /// Log entries to delete with the next write.
    package var outdated: [[UInt8]] = []
    private var revisions: [[UInt8]: Int64] = [:]
    private let keys: FleetKeys

    package init(_ result: EtcdRangeResult, _ keys: FleetKeys) {
        (header, self.keys) = (result.header, keys)
        for pair in result.keys {
            revisions[pair.key] = pair.modRevision
            do throws(FleetProblem) {
                try take(pair)
            } catch {
                garbage[pair.key] = error.description
            }
        }
    }

    private mutating func take(_ pair: EtcdKeyValue) throws(FleetProblem) {
        switch keys.desired(pair.key) {
        case .head: head = Held(try FleetHead(pair.value), pair)
        case .value(let path): values[path] = Held(try DesiredValue(pair.value), pair)
        case .rollout(let id): rollouts[id] = Held(try Rollout(pair.value), pair)
        case .foreign: garbage[pair.key] = "not a key of a fleet"
        }
    }

    /// When a key was last changed; 0: it does not exist.
    package func revision(of key: [UInt8]) -> Int64 { revisions[key] ?? 0 }

    /// The fleet's value.
    package func value(_ path: TweakPath) -> TweakValue? { values[path]?.record.value }

    /// Rollouts as they compose: by create revision, then ID.
    package var ordered: [Held<Rollout>] {
        rollouts.values.sorted { ($0.createRevision, $0.record.id) < ($1.createRevision, $1.record.id) }
    }

    /// The rollout that holds a path: open or paused. Standing rules hold nothing.
    package func holder(of path: TweakPath) -> Held<Rollout>? {
        ordered.first { $0.record.state != .done && $0.record.changes.contains { $0.path == path } }
    }

    /// Refuses paths that an open rollout holds.
    /// - Parameter except: This one may.
    package func checkFree(_ paths: some Sequence<TweakPath>, except: String? = nil) throws(FleetRefusal) {
        for path in paths {
            guard let holder = holder(of: path)?.record, holder.id != except else { continue }
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
        let known = ordered.map(\.record.id)
        let remedy = known.isEmpty ? "none is open" : "there are \(known.joined(separator: ", "))"
        throw FleetRefusal(.refused, "there is no rollout \(Quoting.excerpt(id)); \(remedy)")
    }

    /// The counter of the next write.
    package func nextCounter() throws(FleetRefusal) -> UInt64 {
        if let why = garbage[keys.head] {
            throw FleetRefusal(.refused, "\(keys.name): its head cannot be read: \(why); adopt writes a new one")
        }
        return try Self.after(head?.record.counter ?? 0)
    }

    static func after(_ counter: UInt64) throws(FleetRefusal) -> UInt64 {
        let (next, overflow) = counter.addingReportingOverflow(1)
        if overflow { throw FleetRefusal(.refused, "the head's counter is at its end; use another prefix") }
        return next
    }
}
