// Defines the flat record of a commit, created once under the registry's lock and shared by all followers.

/// One commit in the stream.
package struct CommitRecord: Sendable {
    /// Increases by one from record to record. Revisions do not: values loaded from files do not raise the revision.
    package let sequence: UInt64
    package let revision: UInt64
    package let time: Moment
    package let origin: TweakOrigin
    /// Nil if it is not a commit: values that tweaks get from files, or override paths that the storage rechecks.
    package let kind: CommitKind?
    /// The revision of the commit that it undoes or redoes.
    package let targetRevision: UInt64?
    /// Whether the storage writes it at once.
    package let isUrgent: Bool
    /// Shared with the history, unless that redacts them.
    package let parts: [CommitPart]

    /// Its approximate size in memory, in bytes.
    var memorySize: Int {
        var bytes = MemoryLayout<CommitRecord>.stride + parts.count * MemoryLayout<CommitPart>.stride
        for index in parts.indices { bytes += parts[index].textBytes }
        return bytes
    }

    /// Whether it was read from a file: its tweaks are known by path only.
    package var isFromEarlierRun: Bool { parts.first.map { $0.subject.node == nil } ?? false }

    /// The changes for display; those of secrets have no values.
    package var changes: [TweakHistoryEntry.Change] {
        parts.compactMap { part in
            part.isRemembered(kind) ? (part.subject.isSecret ? part.redacted : part).change : nil
        }
    }
}

/// One tweak's part in a commit.
package struct CommitPart: Sendable {
    package let subject: CommitSubject
    // Not optional: copying optionals of this type costs a runtime call each time.
    private let oldValue: TweakValue
    private(set) var newValue: TweakValue
    private var overrides: Overrides
    /// The layer of the value after the commit.
    package let layer: LayerIndex
    /// Whether value watchers are notified: the value differs, or the tweak is a secret, where silence would confirm a
    /// guess.
    package let isReported: Bool
    /// Whether there was or is a temporary override.
    package let isTemporary: Bool

    /// The overrides before and after. Copied by every commit, so the most frequent case is compact: an override that
    /// is also the current value.
    package enum Overrides: Sendable {
        /// The values must not be revealed.
        case redacted
        /// They stay as they are.
        case unchanged
        /// An override was set; before there was an override or nothing.
        case set(wasSet: Bool)
        indirect case changed(before: OverrideValues, after: OverrideValues)
    }

    package init(
        _ subject: CommitSubject, _ overrides: Overrides, old: TweakValue, new: TweakValue,
        layer: LayerIndex = .default, isReported: Bool = false, isTemporary: Bool = false
    ) {
        self.subject = subject
        self.overrides = overrides
        oldValue = old
        newValue = new
        self.layer = layer
        self.isReported = isReported
        self.isTemporary = isTemporary
    }

    /// Creates a part without values.
    package init(
        redacted subject: CommitSubject, layer: LayerIndex = .default, isReported: Bool = false,
        isTemporary: Bool = false
    ) {
        self.init(
            subject, .redacted, old: .bool(false), new: .bool(false), layer: layer, isReported: isReported,
            isTemporary: isTemporary)
    }

    /// The current value before; nil if it must not be revealed.
    package var old: TweakValue? { if case .redacted = overrides { nil } else { oldValue } }

    /// The current value after; nil if it must not be revealed.
    package var new: TweakValue? { if case .redacted = overrides { nil } else { newValue } }

    /// The overrides before.
    package var before: OverrideValues {
        switch overrides {
        case .redacted, .unchanged: OverrideValues()
        case .set(let wasSet): OverrideValues(override: wasSet ? oldValue : nil)
        case .changed(let before, _): before
        }
    }

    /// The overrides after.
    package var after: OverrideValues {
        switch overrides {
        case .redacted, .unchanged: OverrideValues()
        case .set: OverrideValues(override: newValue)
        case .changed(_, let after): after
        }
    }

    /// Merges a later part of the same tweak into this one.
    /// - Returns: The increase of its weight.
    mutating func extend(to later: CommitPart) -> Int {
        if later.subject.isSecret { return 0 }
        let weight = self.weight
        if later.isPlain {
            extend(to: later.newValue)
        } else {
            overrides = .changed(before: before, after: later.after)
            newValue = later.newValue
        }
        return self.weight - weight
    }

    /// Merges a later set of an override into this part.
    mutating func extend(to value: TweakValue) {
        switch overrides {
        case .set: break
        case .redacted: return
        case .unchanged, .changed: overrides = .changed(before: before, after: OverrideValues(override: value))
        }
        newValue = value
    }

    /// Whether it is a set of an override where there was an override or nothing.
    var isPlain: Bool { if case .set = overrides { true } else { false } }

    /// Whether it leaves value and overrides as they were. A canceled drag sets the rest of a lifetime again, which is not
    /// the same to the millisecond.
    var isVoid: Bool {
        guard oldValue == newValue else { return false }
        switch overrides {
        case .redacted, .unchanged: return false
        case .set(let wasSet): return wasSet
        case .changed(let before, let after):
            guard before.override == after.override else { return false }
            guard let one = before.temporary, let other = after.temporary else {
                return before.temporary == nil && after.temporary == nil
            }
            let difference = other.expires - one.expires
            return one.value == other.value && difference > .seconds(-1) && difference < .seconds(1)
        }
    }

    /// Its approximate size in memory, in units of a short value; a long text counts as several.
    var weight: Int { 1 + (newValue.textBytes ?? 0) / 256 }

    /// The lifetime of the temporary override that it set; nil if it set none.
    package var lifetime: Duration? {
        guard case .changed(let before, let after) = overrides, let temporary = after.temporary,
            temporary.expires != before.temporary?.expires
        else { return nil }
        return temporary.expires - temporary.time
    }

    /// The same part without values.
    package var redacted: CommitPart {
        CommitPart(redacted: subject, layer: layer, isReported: isReported, isTemporary: isTemporary)
    }

    /// Whether history and audit record it: a file's value below an override changes nothing.
    func isRemembered(_ kind: CommitKind?) -> Bool {
        switch kind {
        case nil: false
        case .reload?: oldValue != newValue
        case .change?, .undo?, .redo?, .expiry?, .preview?: true
        }
    }

    package var change: TweakHistoryEntry.Change { .init(path: subject.path, old: old, new: new, lifetime: lifetime) }

    fileprivate var textBytes: Int { (oldValue.textBytes ?? 0) + (newValue.textBytes ?? 0) }
}

/// The tweak that a part of a commit concerns.
package enum CommitSubject: Sendable {
    case node(TweakNode)
    /// A tweak known by path only: in a commit of an earlier run, or if only the storage needs the part.
    case path(NamedPath)

    /// The path of a tweak that need not be registered, and whether it is secret.
    package final class NamedPath: Sendable {
        let path: TweakPath
        let isSecret: Bool

        init(_ path: TweakPath, isSecret: Bool) { (self.path, self.isSecret) = (path, isSecret) }
    }

    package static func path(_ path: TweakPath, isSecret: Bool = false) -> CommitSubject {
        .path(NamedPath(path, isSecret: isSecret))
    }

    package var path: TweakPath {
        switch self {
        case .node(let node): node.path
        case .path(let named): named.path
        }
    }

    /// The tweak; nil if only its path is known.
    package var node: TweakNode? { if case .node(let node) = self { node } else { nil } }

    /// Whether the values must not be shown.
    package var isSecret: Bool {
        switch self {
        case .node(let node): node.isSecret
        case .path(let named): named.isSecret
        }
    }

    /// Whether both are the same registered tweak. False for commits of earlier runs, which are never merged.
    func isSame(as other: CommitSubject) -> Bool {
        if case .node(let node) = self, case .node(let other) = other { node === other } else { false }
    }
}
