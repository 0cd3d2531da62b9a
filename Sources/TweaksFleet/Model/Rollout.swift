// Defines a rollout: changes that reach a growing share of the processes.

package import Tweaks

/// What operators ask for, as `desired/rollouts/ID` holds it.
package struct Rollout: Hashable, Sendable {
    package struct Change: Hashable, Sendable {
        package var path: TweakPath
        package var value: TweakValue
        /// The fleet's value when the rollout was made; nil: there was none.
        package var found: TweakValue?

        package init(path: TweakPath, value: TweakValue, found: TweakValue?) {
            (self.path, self.value, self.found) = (path, value, found)
        }
    }

    package enum State: String, Hashable, Sendable {
        /// Being driven, or waiting for a driver.
        case open
        /// Held at its share.
        case paused
        /// A standing rule: 100 % of a selector.
        case done
    }

    package var id: String
    package var changes: [Change]
    package var selector: Labels = [:]
    package var share: Share
    package var steps: [Share] = [.all]
    package var state = State.open
    /// Seconds between two steps at least.
    package var every: Int64 = 300
    /// When the next step may come, in milliseconds since 1970.
    package var next: Int64?
    /// What stops it.
    package var abortIf: [FigureCondition] = []
    /// Of one under a lease, its seconds: a process without contact leaves it after so long.
    package var lifetime: Int64?
    /// Seconds within which a person has to finish it after its last step, or it is reverted.
    package var confirmWithin: Int64?
    /// When that is: milliseconds since 1970.
    package var confirmBy: Int64?
    /// How many processes that keep their IDs were in it when its step began; nil: that is not known.
    package var reached: Int64?
    package var by: String
    /// Milliseconds since 1970.
    package var at: Int64

    package init(id: String, changes: [Change], share: Share, by: String, at: Int64) {
        (self.id, self.changes, self.share, self.by, self.at) = (id, changes, share, by, at)
    }

    /// Whether a text can be an ID: letters, digits and `-`, at most 40.
    package static func isID(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}
