// Holds the live processes of a fleet and their statuses.

import Tweaks

/// A live process and its newest status.
package struct LiveInstance: Hashable, Sendable {
    package var id: String
    package var start: Int64
    package var status: FleetStatus

    package init(id: String, start: Int64, status: FleetStatus) {
        (self.id, self.start, self.status) = (id, start, status)
    }

    /// The identity that rollouts select by.
    package var instance: FleetInstance { FleetInstance(id: id, labels: status.labels) }
}

/// The statuses of a fleet's processes. After a crash a process can have several; the newest start counts.
package struct InstanceStatuses: Sendable {
    /// The newest status of each key.
    private var statuses: [[UInt8]: LiveInstance] = [:]
    /// Unreadable keys, with the reason for each.
    package private(set) var unreadable: [[UInt8]: String] = [:]
    /// The revision of the newest update.
    package private(set) var revision: Int64
    private let keys: FleetKeys

    package init(_ result: EtcdRangeResult, _ keys: FleetKeys) {
        (revision, self.keys) = (result.header.revision, keys)
        for pair in result.keys { put(pair) }
    }

    /// Applies the events of a watch.
    package mutating func apply(_ header: EtcdHeader, _ events: [EtcdEvent]) {
        revision = max(revision, header.revision)
        for event in events {
            switch event.kind {
            case .put: put(event.pair)
            case .delete: (statuses[event.pair.key], unreadable[event.pair.key]) = (nil, nil)
            }
        }
    }

    private mutating func put(_ pair: EtcdKeyValue) {
        unreadable[pair.key] = nil
        guard let (id, start) = name(of: pair.key) else {
            unreadable[pair.key] = "the key is not instances/ID/START"
            return
        }
        do throws(FleetProblem) {
            statuses[pair.key] = LiveInstance(id: id, start: start, status: try FleetStatus(pair.value))
        } catch {
            unreadable[pair.key] = error.description
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

    /// The live processes, sorted by ID, each with its newest start.
    package var live: [LiveInstance] {
        var newest: [String: LiveInstance] = [:]
        for instance in statuses.values where newest[instance.id].map({ $0.start < instance.start }) ?? true {
            newest[instance.id] = instance
        }
        return newest.values.sorted { $0.id < $1.id }
    }
}

extension FleetOperator {
    /// Reads the live processes.
    package func instanceStatuses() async throws(FleetRefusal) -> InstanceStatuses {
        InstanceStatuses(try await range(.prefix(keys.instances)), keys)
    }
}
