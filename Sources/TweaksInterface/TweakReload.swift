// Describes a reload of the config file: its changes, or the errors that prevented them.

public import Tweaks

/// The changes that reading the config file made or would make.
public struct TweakReload: Sendable {
    /// One tweak whose value in the file changed.
    public struct Change: Sendable, CustomStringConvertible {
        let change: LayerDifference.Change
        /// Whether the program starts, and the value begins with that of the file.
        let isStart: Bool

        /// The tweak.
        public var path: TweakPath { change.path }
        /// The value below overrides before: the file's value, or the default.
        public var old: TweakValue { change.old }
        /// The value below overrides now.
        public var new: TweakValue { change.new }
        /// Whether the file no longer names it and the default applies again.
        public var isRemoved: Bool { change.isRemoved }
        /// The override that still applies.
        public var override: TweakValue? { change.override }
        /// The override that was dropped in favor of the file.
        public var droppedOverride: TweakValue? { change.dropped }
        /// Whether the values must not be shown.
        public var isSecret: Bool { change.isSecret }

        /// `Content/Text/Size: file changed 60 → 64; the override 72 stays, reset Content/Text/Size to take the file's`.
        /// At a start, which is no change: `Content/Text/Size: file sets 64 (default 60)`.
        public var description: String { "\(path.token): \(difference)\(consequence)" }

        private var difference: String {
            if old == new {
                return
                    (isRemoved ? "no longer in the file; the default is the same" : "file says the same as the default")
                    + (isSecret ? "" : ", \(new.text)")
            }
            if isStart { return isSecret ? "file sets it" : "file sets \(new.text) (default \(old.text))" }
            return (isRemoved ? "no longer in the file, changed" : "file changed")
                + (isSecret ? "" : " \(old.text) → \(new.text)")
        }

        /// What becomes of an override.
        private var consequence: String {
            var text = ""
            if let override {
                let value = isSecret ? "" : " \(override.text)"
                text +=
                    "; the override\(value) stays, reset \(path.token) to take the \(isRemoved ? "default" : "file's")"
            }
            if let droppedOverride {
                text += isSecret ? "; the override is dropped" : "; the override \(droppedOverride.text) is dropped"
            }
            return text
        }
    }

    /// The file; empty for a daemon that has none, and only asked its sources.
    public let file: String
    /// The registry's revision afterwards; at a start it is that of the last change.
    public let revision: UInt64
    /// Whether the program starts: its values begin with those of the file, which is no change.
    public let isStart: Bool
    /// The changes, in the order of all listings.
    public let changes: [Change]
    /// The first hundred tweaks that the file names and that are not registered yet; their values are pending. In an
    /// event: only those not reported before.
    public let unknown: [String]
    /// How many such tweaks there are in total.
    public let unknownCount: Int
    /// How many tweaks have a value from the file.
    public let count: Int

    /// What becomes of a value whose path no tweak has yet.
    package static let pendingNote =
        "pending until it registers: a static on first use, an instance's @Tweak with the instance"

    package init(_ file: String, _ difference: LayerDifference) {
        self.file = file
        revision = difference.revision
        isStart = difference.isStart
        changes = difference.changes.map { Change(change: $0, isStart: difference.isStart) }
        unknown = difference.unknown.map { "\(file):\($0.line): \($0.error.message)" }
        unknownCount = difference.unknownCount
        count = difference.count
    }

    /// A reload of a daemon without a config file, whose sources commit by themselves.
    package init(revision: UInt64) {
        file = ""
        self.revision = revision
        isStart = false
        changes = []
        unknown = []
        unknownCount = 0
        count = 0
    }
}

/// Why a config file was rejected; nothing has changed.
public struct TweakReloadError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file.
    public let file: String
    /// The first hundred bad lines, in order; the line is nil if the file itself cannot be read.
    public let problems: [Problem]
    /// How many lines are bad in total.
    public let count: Int

    /// The error of one line.
    public struct Problem: Equatable, Sendable {
        /// The line number, from 1.
        public let line: Int?
        /// The same error as in the protocol.
        public let error: TweakError
    }

    package init(file: String, reason: TweakError) {
        self.init(file: file, problems: [(nil, reason)], count: 1)
    }

    package init(file: String, problems: [(line: Int?, error: TweakError)], count: Int) {
        self.file = file
        self.count = count
        self.problems = problems.map { Problem(line: $0.line, error: $0.error) }
    }

    /// `FILE:12: out-of-range …`, a line for each problem, and the number of problems not listed.
    public var description: String {
        let lines = problems.map { Quoting.sanitized("\(file)\($0.line.map { ":\($0)" } ?? ""): \($0.error)") }
        return (lines + (count > lines.count ? ["… and \(count - lines.count) more"] : [])).joined(separator: "\n")
    }
}
