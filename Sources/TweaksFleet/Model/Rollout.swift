// Defines a rollout: changes that reach a growing share of the processes.

package import Tweaks

/// A rollout as stored in `desired/rollouts/ID`.
package struct Rollout: Hashable, Sendable {
    package struct Change: Hashable, Sendable {
        package var path: TweakPath
        package var value: TweakValue
        /// The fleet's value when the rollout was created; nil if there was none.
        package var found: TweakValue?

        package init(path: TweakPath, value: TweakValue, found: TweakValue?) {
            (self.path, self.value, self.found) = (path, value, found)
        }
    }

    package enum State: String, Hashable, Sendable {
        /// A driver advances it, or it waits for one.
        case open
        /// Stays at its share.
        case paused
        /// A standing rule: all processes that the selector matches.
        case done
    }

    package var id: String
    package var changes: [Change]
    package var selector: Labels = [:]
    package var share: Share
    package var steps: [Share] = [.all]
    package var state = State.open
    /// The minimum number of seconds between two steps.
    package var every: Int64 = 300
    /// The earliest time of the next step, in milliseconds since 1970.
    package var next: Int64?
    /// Conditions that abort it.
    package var abortIf: [MetricCondition] = []
    /// The lifetime of its lease in seconds, if any: a process without contact leaves the rollout after this time.
    package var lifetime: Int64?
    /// The seconds within which an operator must finish it after its last step; otherwise it is reverted.
    package var confirmWithin: Int64?
    /// The deadline for that, in milliseconds since 1970.
    package var confirmBy: Int64?
    /// The number of members with stable IDs when its step began; nil if unknown.
    package var reached: Int64?
    package var by: String
    /// Milliseconds since 1970.
    package var at: Int64

    package init(id: String, changes: [Change], share: Share, by: String, at: Int64) {
        (self.id, self.changes, self.share, self.by, self.at) = (id, changes, share, by, at)
    }

    /// Whether a text is a valid ID: letters, digits and `-`, at most 40.
    package static func isID(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}
