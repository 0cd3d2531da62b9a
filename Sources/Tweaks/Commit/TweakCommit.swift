// Describes the result of a commit: its changes, and the outcome for each tweak.

/// One all-or-nothing change of one or more tweaks, as `registry.changes` delivers it.
public struct TweakCommit: Sendable {
    /// The registry's revision after it. Values loaded from the overrides file do not raise the revision, so it may
    /// equal that of the previous commit.
    public let revision: UInt64
    /// Who made it; if commits were folded for a slow reader, the origin of the last one.
    public let origin: TweakOrigin
    /// The changes, one for each tweak.
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
        private let shown: ShownValue

        init(_ node: TweakNode, old: TweakValue, new: TweakValue) {
            path = node.path
            self.old = old
            self.new = new
            isSecret = node.isSecret
            shown = node.shown(new)
        }

        /// `Content/Text/Size = 72 (was 60)`; for a secret only whether it is set.
        public var description: String {
            "\(path.token) = \(shown.text)" + (isSecret ? "" : " (was \(old.text))")
        }
    }
}

/// The outcome of one requested change.
public struct TweakOutcome: Sendable {
    /// The tweak.
    public let path: TweakPath
    /// The current value before.
    public let old: TweakValue
    /// The current value now.
    public let new: TweakValue
    /// How range or step adjusted the requested value.
    public let adjustment: TweakAdjustment
    /// Whether a layer was written or removed; false if it already had that value.
    public let didStore: Bool
    /// The registry's revision after the change.
    public let revision: UInt64
    /// How long the new value lasts; nil if it is permanent.
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

    /// Whether the current value changed.
    public var didChange: Bool { old != new }
}

extension TweakOutcome: CustomStringConvertible, CustomReflectable {
    /// `Content/Text/Size = 72 (was 60)`; without the values of a secret.
    public var description: String {
        isSecret
            ? "\(path.token) (secret), rev \(revision)"
            : "\(path.token) = \(new.text) (was \(old.text)), rev \(revision)"
    }

    /// Contains the description only, so that dumping the value reveals no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// The outcome of a whole commit.
public struct TweakCommitResult: Sendable {
    /// The registry's revision after it.
    public let revision: UInt64
    /// One outcome for each tweak, in the order in which they first occur in the batch.
    public let outcomes: [TweakOutcome]

    /// Whether anything was stored or removed.
    public var didStore: Bool { outcomes.contains { $0.didStore } }
}
