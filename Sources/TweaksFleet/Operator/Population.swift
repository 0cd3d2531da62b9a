// Holds the processes of a fleet that live, as their statuses say.

import Tweaks

/// A process that lives: its newest status.
package struct LiveInstance: Hashable, Sendable {
    package var id: String
    package var start: Int64
    package var status: FleetStatus

    package init(id: String, start: Int64, status: FleetStatus) {
        (self.id, self.start, self.status) = (id, start, status)
    }

    /// Who it is, for rollouts.
    package var instance: FleetInstance { FleetInstance(id: id, labels: status.labels) }
}

/// The processes of a fleet. After a crash there can be several statuses of one; the newest start counts.
package struct Population: Sendable {
    /// The statuses by key: the newest event of each.
    private var statuses: [[UInt8]: LiveInstance] = [:]
    /// Keys that cannot be read, by what is wrong with each.
    package private(set) var garbage: [[UInt8]: String] = [:]
    /// The revision up to which it is known.
    package private(set) var revision: Int64
    private let keys: FleetKeys

    package init(_ result: EtcdRangeResult, _ keys: FleetKeys) {
        (revision, self.keys) = (result.header.revision, keys)
        for pair in result.keys { put(pair) }
    }

    /// Takes what a watch says.
    package mutating func apply(_ header: EtcdHeader, _ events: [EtcdEvent]) {
        revision = max(revision, header.revision)
        for event in events {
            switch event.kind {
            case .put: put(event.pair)
            case .delete: (statuses[event.pair.key], garbage[event.pair.key]) = (nil, nil)
            }
        }
    }

    private mutating func put(_ pair: EtcdKeyValue) {
        garbage[pair.key] = nil
        guard let (id, start) = name(of: pair.key) else {
            garbage[pair.key] = "it is no instances/ID/START"
            return
        }
        do throws(FleetProblem) {
            statuses[pair.key] = LiveInstance(id: id, start: start, status: try FleetStatus(pair.value))
        } catch {
            garbage[pair.key] = error.description
        }
    }

    private func name(of key: [UInt8]) -> (id: String, start: Int64)? {
        guard key.starts(with: keys.instances),
            let text = String(validating: key.dropFirst(keys.instances.count), as: UTF8.self)
        else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, FleetInstance.isID(String(parts[0])), let start = Int64(parts[1]) else { return nil }
        return (String(parts[0]), start)
    }

    /// Those that live, by ID, each with its newest start.
    package var live: [LiveInstance] {
        var newest: [String: LiveInstance] = [:]
        for instance in statuses.values where newest[instance.id].map({ $0.start < instance.start }) ?? true {
            newest[instance.id] = instance
        }
        return newest.values.sorted { $0.id < $1.id }
    }
}

extension FleetOperator {
    /// The processes that live.
    package func population() async throws(FleetRefusal) -> Population {
        Population(try await range(.prefix(keys.instances)), keys)
    }
}
