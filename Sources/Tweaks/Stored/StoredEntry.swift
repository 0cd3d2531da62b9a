// What files say about tweaks: values that are not judged yet, and those that cannot be used.

/// Which override of which tweak.
package struct OverrideKey: Hashable, Sendable {
    package let path: TweakPath
    package let isTemporary: Bool

    package init(_ path: TweakPath, isTemporary: Bool = false) {
        self.path = path
        self.isTemporary = isTemporary
    }
}

/// A value for one layer of a tweak as a file holds it. Its tweak may not be registered, and it may not fit.
package struct StoredEntry: Sendable, Equatable {
    /// The value, as far as it is known without the definition.
    package enum Content: Sendable, Equatable {
        /// One token of a config file, to be read by the tweak's kind.
        case text(String)
        /// An override as it was set.
        case value(TweakValue)
    }

    /// What the file calls the tweak.
    package var path: TweakPath
    package let content: Content
    /// Who set it.
    package let origin: TweakOrigin
    /// When it was set.
    package let time: ContinuousClock.Instant
    /// Of an override, the value that showed without it when it was set.
    package let covered: TweakValue?
    /// Of a temporary override, when it ends.
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

    /// Which override of which tweak it is.
    package var key: OverrideKey { OverrideKey(path, isTemporary: expires != nil) }

    /// The layer of an override.
    package var layer: TweakLayer { expires == nil ? .override : .temporaryOverride }

    /// Whether it has ended by a moment.
    package func isExpired(_ time: ContinuousClock.Instant) -> Bool { expires.map { $0 <= time } ?? false }
}

/// A value that a file has for a tweak, and why it is not in force.
package struct AsideEntry: Sendable {
    /// The layer that it is meant for.
    package let layer: TweakLayer
    package let entry: StoredEntry
    /// Why it does not fit today's definition.
    package let reason: TweakError
}

/// What there is to say about a tweak's layers beyond the values in force; most tweaks have none.
final class OverlayNotes: Sendable {
    /// Values that do not fit.
    let aside: [AsideEntry]
    /// What became of the value beneath the override since that was set.
    let beneath: (old: TweakValue, new: TweakValue)?

    /// Nil when there is nothing to say.
    init?(aside: [AsideEntry], beneath: (old: TweakValue, new: TweakValue)?) {
        if aside.isEmpty, beneath == nil { return nil }
        self.aside = aside
        self.beneath = beneath
    }
}

/// The values that files have for one tweak that is not registered.
struct HeldLayers: Sendable, Equatable {
    var configFile: StoredEntry?
    var fleet: StoredEntry?
    var override: StoredEntry?
    var temporary: StoredEntry?

    var isEmpty: Bool { configFile == nil && fleet == nil && override == nil && temporary == nil }

    subscript(layer: TweakLayer) -> StoredEntry? {
        get {
            switch layer {
            case .default: nil
            case .configFile: configFile
            case .fleet: fleet
            case .override: override
            case .temporaryOverride: temporary
            }
        }
        set {
            switch layer {
            case .default: break
            case .configFile: configFile = newValue
            case .fleet: fleet = newValue
            case .override: override = newValue
            case .temporaryOverride: temporary = newValue
            }
        }
    }
}

extension TweakNode {
    /// Judges what a file says. A stored override is not clamped: it comes back as it was if the definition does.
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
