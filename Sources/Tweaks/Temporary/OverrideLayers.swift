// Applies changes to the override layers of a tweak, for commits and for forecasts.

/// Override and temporary override of one tweak; nil if absent.
package struct OverrideLayers: Sendable {
    var override: Overlays.Entry?
    var temporary: Overlays.Entry?

    /// Whether the values are the same, regardless of origin and time. An expired override counts as absent.
    func agrees(with other: OverrideLayers, at time: Moment) -> Bool {
        override?.prepared.value == other.override?.prepared.value
            && temporary?.unlessExpired(time)?.prepared.value == other.temporary?.unlessExpired(time)?.prepared.value
    }
}

extension Overlays.Entry {
    /// The entry; nil if it is an expired temporary override.
    func unlessExpired(_ time: Moment) -> Overlays.Entry? {
        end.map { $0 <= time } == true ? nil : self
    }
}

/// A change of the layers of one tweak. Rare cases are indirect, so that the others stay small.
enum LayerChange: Sendable {
    /// Sets the override and ends a temporary one.
    case override(Prepared)
    /// Sets the temporary override, with its lifetime.
    indirect case temporary(Prepared, Duration)
    /// Makes the temporary override permanent.
    case keep
    /// Removes override and temporary override.
    case reset
    /// Ends a temporary override that has expired by a moment.
    case expire(Moment)
    /// Restores earlier overrides, for undo and redo.
    indirect case restore(OverrideLayers)
    /// Sets or removes the layer of a config file or fleet.
    indirect case source(SourceLayer)

    /// The current value afterwards, if it does not depend on the present layers or on the time.
    var prepared: Prepared? {
        switch self {
        case .override(let prepared), .temporary(let prepared, _): prepared
        case .keep, .reset, .expire, .restore, .source: nil
        }
    }

    /// Whether it affects a layer. Setting or expiring a temporary override does not affect the layers below it.
    func affects(_ layer: TweakLayer) -> Bool {
        switch self {
        case .temporary, .expire: layer == .temporaryOverride
        case .source(let source): layer == source.layer || layer == .override && source.dropsOverride
        case .override, .keep, .reset, .restore: layer >= .override
        }
    }

    /// The lifetime of the value; nil if it is permanent.
    var lifetime: Duration? { if case .temporary(_, let lifetime) = self { lifetime } else { nil } }

    var isKeep: Bool { if case .keep = self { true } else { false } }

    /// The same change with a permanent value.
    var kept: LayerChange {
        if case .temporary(let prepared, _) = self { .override(prepared) } else { self }
    }
}

/// The new value of one tweak from a config file or a fleet.
struct SourceLayer: Sendable {
    let layer: TweakLayer
    /// The new entry; nil to remove the layer.
    let entry: Overlays.Entry?
    /// Whether it removes the override above it.
    var dropsOverride = false
    /// The change of the value below the override since the override was set; nil if there is none.
    let underlyingChange: (old: TweakValue, new: TweakValue)?
}

extension Overlays {
    /// Override and temporary override.
    var overrideLayers: OverrideLayers {
        // Fast path: most tweaks with an override have no other layer.
        guard let last = entries.last, last.layer >= .override else { return OverrideLayers() }
        if last.layer == .override { return OverrideLayers(override: last) }
        return OverrideLayers(override: self[.override], temporary: last)
    }

    /// Changes the layers. Returns false if nothing changed.
    mutating func apply(_ change: LayerChange, origin: TweakOrigin, at moment: Moment) -> Bool {
        switch change {
        case .override(let prepared): return override(prepared, origin: origin, at: moment)
        case .temporary(let prepared, let lifetime):
            set(
                Entry(
                    layer: .temporaryOverride, prepared: prepared, origin: origin, moment: moment,
                    end: moment.advanced(by: lifetime)))
            return true
        case .keep: return keep(origin: origin, at: moment)
        case .reset: return reset()
        case .expire(let due):
            guard self[.temporaryOverride]?.unlessExpired(due) == nil else { return false }
            return remove(.temporaryOverride)
        case .restore(let layers): return restore(layers, origin: origin, at: moment)
        case .source(let source):
            remove(source.layer)
            if let entry = source.entry { set(entry) }
            if source.dropsOverride { remove(.override) }
            let underlyingChange = self[.override] == nil ? nil : source.underlyingChange
            notes = OverlayNotes(quarantined: notes?.quarantined ?? [], underlyingChange: underlyingChange)
            return true
        }
    }

    private mutating func keep(origin: TweakOrigin, at moment: Moment) -> Bool {
        guard let temporary = self[.temporaryOverride] else { return false }
        remove(.temporaryOverride)
        set(Entry(layer: .override, prepared: temporary.prepared, origin: origin, moment: moment))
        return true
    }

    private mutating func restore(
        _ layers: OverrideLayers, origin: TweakOrigin, at moment: Moment
    ) -> Bool {
        let before = overrideLayers
        // The same value with another expiry is a change, too.
        let isAsLong = before.temporary?.end == layers.temporary?.unlessExpired(moment)?.end
        if isAsLong, before.agrees(with: layers, at: moment) { return false }
        remove(.override)
        remove(.temporaryOverride)
        for var entry in [layers.override, layers.temporary?.unlessExpired(moment)].compactMap(\.self) {
            (entry.origin, entry.moment) = (origin, moment)
            set(entry)
        }
        return true
    }
}
