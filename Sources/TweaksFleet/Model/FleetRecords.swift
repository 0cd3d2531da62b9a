// Defines the records of a fleet's keys: desired values, the head, statuses, log entries, drivers.

package import Tweaks

/// `desired/values/PATH`: a value for every process.
package struct DesiredValue: Hashable, Sendable {
    package var value: TweakValue
    package var by: String
    /// Milliseconds since 1970.
    package var at: Int64

    package init(value: TweakValue, by: String, at: Int64) { (self.value, self.by, self.at) = (value, by, at) }
}

/// `desired/head`: counts the operators' writes; each write compares and replaces it.
package struct FleetHead: Hashable, Sendable {
    package var counter: UInt64
    package var by: String
    package var what: String
    package var at: Int64
    /// The counter of the last `adopt`; 0 if there was none. Later heads repeat it, for processes that were offline
    /// then.
    package var adopted: UInt64 = 0

    package init(counter: UInt64, by: String, what: String, at: Int64) {
        (self.counter, self.by, self.what, self.at) = (counter, by, what, at)
    }
}

/// The identity of a process in its fleet.
package struct FleetInstance: Hashable, Sendable {
    /// Letters, digits, `.`, `_`, `-` and `:`, at most 63.
    package var id: String
    package var labels: Labels

    package init(id: String, labels: Labels = [:]) { (self.id, self.labels) = (id, labels) }

    package static func isID(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || "._-:".unicodeScalars.contains($0))
            }
    }
}

/// `instances/ID/START`: the status that a process reports. It can stop a rollout, but never write a value.
package struct FleetStatus: Hashable, Sendable {
    package struct Refusal: Hashable, Sendable {
        /// Nil for a value for all processes.
        package var rollout: String?
        package var path: String
        package var reason: String

        package init(rollout: String?, path: String, reason: String) {
            (self.rollout, self.path, self.reason) = (rollout, path, reason)
        }
    }

    package var build: String
    package var labels: Labels = [:]
    /// The applied etcd revision.
    package var revision: Int64 = 0
    /// The counter of the applied head.
    package var head: UInt64 = 0
    package var refused: [Refusal] = []
    /// The number of refusals that did not fit.
    package var moreRefused = 0
    /// Paths with a local override above the fleet's value.
    package var covered: [String] = []
    package var moreCovered = 0
    /// Why the store's content is not applied; nil if it is.
    package var trouble: String?
    /// The ID is random and changes with each restart.
    package var isUnstable = false
    /// The start of the process and the time of this status, in milliseconds since 1970.
    package var started: Int64 = 0
    package var at: Int64 = 0
    /// The figures in conditions of open rollouts, by path.
    package var metrics: [String: Double] = [:]

    package init(build: String) { self.build = build }

    /// The size limit in bytes; what does not fit is counted.
    package static let maxBytes = 1_024
}

/// `log/SEQ`: an operator's action, written in the same transaction.
package struct FleetLogEntry: Hashable, Sendable {
    package struct Change: Hashable, Sendable {
        package var path: TweakPath
        package var old: TweakValue?
        package var new: TweakValue?

        package init(path: TweakPath, old: TweakValue?, new: TweakValue?) {
            (self.path, self.old, self.new) = (path, old, new)
        }
    }

    package var sequence: UInt64
    /// `set`, `reset`, `rollout`, `step`, `pause`, `resume`, `finish`, `abort`, `undo`, `import`, `adopt`.
    package var verb: String
    package var rollout: String?
    package var changes: [Change]
    /// Why a driver did it automatically; nil for an operator's command.
    package var why: String?
    package var by: String
    package var at: Int64

    package init(
        sequence: UInt64, verb: String, rollout: String? = nil, changes: [Change] = [], by: String, at: Int64
    ) {
        (self.sequence, self.verb, self.rollout, self.changes) = (sequence, verb, rollout, changes)
        (self.by, self.at) = (by, at)
    }
}

/// `driver/ID`: the driver of a rollout, under a lease.
package struct FleetDriver: Hashable, Sendable {
    package var host: String
    package var pid: Int64
    package var by: String
    package var at: Int64

    package init(host: String, pid: Int64, by: String, at: Int64) {
        (self.host, self.pid, self.by, self.at) = (host, pid, by, at)
    }
}
