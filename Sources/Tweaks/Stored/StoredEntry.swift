// Models the values that files hold for tweaks: unvalidated, pending, and quarantined ones.

/// Identifies an override or temporary override of a tweak.
package struct OverrideKey: Hashable, Sendable {
    package let path: TweakPath
    package let isTemporary: Bool

    package init(_ path: TweakPath, isTemporary: Bool = false) {
        self.path = path
        self.isTemporary = isTemporary
    }
}

/// A value for one layer of a tweak, as stored in a file. Its tweak may not be registered, and it may be invalid.
package struct StoredEntry: Sendable, Equatable {
    /// The value, independent of the tweak's definition.
    package enum Content: Sendable, Equatable {
        /// One token of a config file, to be parsed by the tweak's kind.
        case text(String)
        /// An override as it was set.
        case value(TweakValue)
    }

    /// The tweak's path in the file.
    package var path: TweakPath
    package let content: Content
    /// The origin of the set.
    package let origin: TweakOrigin
    /// The time of the set.
    package let time: ContinuousClock.Instant
    /// For an override, the underlying value when it was set.
    package let covered: TweakValue?
    /// For a temporary override, its end.
    package let expires: ContinuousClock.Instant?

    package init(
        path: TweakPath, content: Content, origin: TweakOrigin, time: ContinuousClock.Instant,
        covered: TweakValue? = nil, expires: ContinuousClock.Instant? = nil
    ) {
        self.path = path
        self.content = content
        self.origin = origin
        self.time = time
        self.covered = covered
        self.expires = expires
    }

    /// The key of this override.
    package var key: OverrideKey { OverrideKey(path, isTemporary: expires != nil) }

    /// The layer of an override.
    package var layer: TweakLayer { expires == nil ? .override : .temporaryOverride }

    /// Whether it has expired by `time`.
    package func isExpired(_ time: ContinuousClock.Instant) -> Bool { expires.map { $0 <= time } ?? false }
}

/// A quarantined value: stored in a file, but invalid for the tweak's current definition.
package struct QuarantinedEntry: Sendable {
    /// The layer that it was stored for.
    package let layer: TweakLayer
    package let entry: StoredEntry
    /// The validation error.
    package let reason: TweakError
}

/// Additional state of a tweak's layers; most tweaks have none.
final class OverlayNotes: Sendable {
    /// Quarantined values.
    let quarantined: [QuarantinedEntry]
    /// The change of the underlying value since the override was set.
    let underlyingChange: (old: TweakValue, new: TweakValue)?

    /// Nil when there is nothing to record.
    init?(quarantined: [QuarantinedEntry], underlyingChange: (old: TweakValue, new: TweakValue)?) {
        if quarantined.isEmpty, underlyingChange == nil { return nil }
        self.quarantined = quarantined
        self.underlyingChange = underlyingChange
    }
}

extension TweakNode {
    /// Validates a value from a file. Stored overrides are not clamped, so that reverting a definition restores them.
    func prepare(
        _ entry: StoredEntry, for layer: TweakLayer
    ) throws(TweakError) -> (prepared: Prepared, adjustment: TweakAdjustment) {
        if !isSettable { throw notSettable }
        if layer == .fleet, isSecret { throw secretInFleet }
        switch entry.content {
        case .text(let text): return try prepare(try read(text, from: .file))
        case .value(let value): return try prepare(value, policy: .reject)
        }
    }
}
