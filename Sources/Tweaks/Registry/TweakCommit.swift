// What a commit did.

/// One all-or-nothing change of one or more tweaks, as `registry.changes` delivers it.
public struct TweakCommit: Sendable {
    /// The registry's revision after it. What tweaks take over from the file of overrides raises none, so that may be the
    /// revision of the commit before.
    public let revision: UInt64
    /// Who made it; where commits were folded for a slow reader, who made the last of them.
    public let origin: TweakOrigin
    /// What changed, each tweak once.
    public let changes: [Change]

    /// One tweak's part in a commit.
    public struct Change: Sendable, CustomStringConvertible {
        /// The tweak.
        public let path: TweakPath
        /// The value before.
        public let old: TweakValue
        /// The value after.
        public let new: TweakValue
        /// Whether the values must not be shown.
        public let isSecret: Bool
        /// Whether the new value of a secret counts as set.
        let isSet: Bool

        /// `Content/Text/Size = 72 (was 60)`; of a secret only whether it is set.
        public var description: String {
            if isSecret { return "\(path.token) = \(isSet ? "(set)" : "(unset)")" }
            return "\(path.token) = \(new.text) (was \(old.text))"
        }
    }
}

/// What became of one change that was asked for.
public struct TweakOutcome: Sendable {
    /// The tweak.
    public let path: TweakPath
    /// The current value before.
    public let old: TweakValue
    /// The current value now.
    public let new: TweakValue
    /// What range or step made of the value that was asked for.
    public let adjustment: TweakAdjustment
    /// Whether a layer was written or removed; false when it already held that value.
    public let didStore: Bool
    /// The registry's revision after the change.
    public let revision: UInt64
    /// How long the new value lasts; nil: for good.
    public let lifetime: Duration?
    /// Whether the values must not be shown.
    public let isSecret: Bool

    init(
        path: TweakPath, old: TweakValue, new: TweakValue, adjustment: TweakAdjustment = .none, didStore: Bool,
        revision: UInt64, lifetime: Duration? = nil, isSecret: Bool
    ) {
        self.path = path
        self.old = old
        self.new = new
        self.adjustment = adjustment
        self.didStore = didStore
        self.revision = revision
        self.lifetime = lifetime
        self.isSecret = isSecret
    }

    /// Whether the current value is another one now.
    public var didChange: Bool { old != new }
}

extension TweakOutcome: CustomStringConvertible, CustomReflectable {
    /// `Content/Text/Size = 72 (was 60)`; without the values of a secret.
    public var description: String {
        isSecret
            ? "\(path.token) (secret), rev \(revision)"
            : "\(path.token) = \(new.text) (was \(old.text)), rev \(revision)"
    }

    /// No more than the description says.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// What became of a whole commit.
public struct TweakCommitResult: Sendable {
    /// The registry's revision after it.
    public let revision: UInt64
    /// One outcome for each tweak that it named, in the order of their first mention.
    public let outcomes: [TweakOutcome]

    /// Whether anything was stored or removed.
    public var didStore: Bool { outcomes.contains { $0.didStore } }
}
