// Says for each unreadable key of a fleet what repairs it without losing a value.

import Tweaks

/// An unreadable key.
package struct KeyProblem: Hashable, Sendable {
    package var key: String
    package var reason: String
    /// What to do about it, and what that costs.
    package var remedy: String
}

extension FleetKeys {
    /// Describes unreadable keys, sorted.
    package func problems(of unreadable: [[UInt8]: String]) -> [KeyProblem] {
        unreadable.map { key, reason in
            // The remedy of a value under a lease is that of any value.
            let short = reason.hasSuffix(Self.again) ? String(reason.dropLast(Self.again.count)) : reason
            return KeyProblem(key: String(decoding: key, as: UTF8.self), reason: short, remedy: remedy(of: key))
        }.sorted { $0.key < $1.key }
    }

    private static let again = "; set it again"

    private func remedy(of key: [UInt8]) -> String {
        if key.starts(with: self.desired) { return remedy(of: desired(key)) }
        if key.starts(with: log) {
            return "this line of the history is lost, and deleting it with etcdctl del costs no more"
        }
        if key.starts(with: builds) {
            return "values are not checked for it; after etcdctl del its processes write it with their next status"
        }
        if key.starts(with: schedule), let id = String(validating: key.dropFirst(schedule.count), as: UTF8.self) {
            return "it never begins; abort \(id) deletes it"
        }
        if key.starts(with: drivers) {
            return "no driver can begin before it is gone; if none is running, etcdctl del deletes it"
        }
        return "its process writes it again, or it ends with its lease; deleting it with etcdctl del changes no value"
    }

    private func remedy(of key: Desired) -> String {
        switch key {
        case .head: "adopt writes a new one, and nothing else can be written before; do not delete it"
        case .value(let path):
            "unless a newer version wrote it, set \(path.token) = VALUE writes it anew; until then processes keep the "
                + "last good one, and deleting it would lose that"
        case .rollout(let id): "abort \(id) deletes it; until then processes keep what they last read of it"
        case .foreign: "processes ignore it; ask whose it is before etcdctl del deletes it"
        }
    }
}
