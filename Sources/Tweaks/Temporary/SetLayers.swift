// What people set of a tweak, and what a change makes of it: the same for a commit and for a forecast of one.

/// Override and temporary override of one tweak; nil: none.
package struct SetLayers: Sendable {
    var override: Overlays.Entry?
    var temporary: Overlays.Entry?

    /// Whether the values are the same, whoever set them, and when. What has run out counts as none.
    func agrees(with other: SetLayers, at time: Moment) -> Bool {
        override?.prepared.value == other.override?.prepared.value
            && temporary?.unlessExpired(time)?.prepared.value == other.temporary?.unlessExpired(time)?.prepared.value
    }
}

extension Overlays.Entry {
    /// Nil for a temporary override that has run out.
    func unlessExpired(_ time: Moment) -> Overlays.Entry? {
        end.map { $0 <= time } == true ? nil : self
    }
}

/// What a change does to the layers of one tweak. What is rare is kept elsewhere, so that the others are small.
enum LayerChange: Sendable {
    /// Sets the override; that ends a temporary one.
    case override(Prepared)
    /// Sets the temporary override, for a while.
    indirect case temporary(Prepared, Duration)
    /// Makes the temporary override the override.
    case keep
    /// Removes override and temporary override.
    case reset
    /// Ends a temporary override that has run out by a moment.
    case expire(Moment)
    /// Puts back what was there, or makes again what was taken back.
    indirect case restore(SetLayers)
    /// Gives a source's layer another value, or takes it away.
    indirect case source(SourceLayer)

    /// The value that shows afterwards, where it does not depend on what is there, or on the time.
    var prepared: Prepared? {
        switch self {
        case .override(let prepared), .temporary(let prepared, _): prepared
        case .keep, .reset, .expire, .restore, .source: nil
        }
    }

    /// Whether it says something new about a layer. What is set for a while, or ends by itself, leaves what lies beneath.
    func isAbout(_ layer: TweakLayer) -> Bool {
        switch self {
        case .temporary, .expire: layer == .temporaryOverride
        case .source(let source): layer == source.layer || layer == .override && source.dropsOverride
        case .override, .keep, .reset, .restore: layer >= .override
        }
    }

    /// How long it lasts; nil: for good.
    var lifetime: Duration? { if case .temporary(_, let lifetime) = self { lifetime } else { nil } }

    var isKeep: Bool { if case .keep = self { true } else { false } }

    /// The same for good.
    var kept: LayerChange {
        if case .temporary(let prepared, _) = self { .override(prepared) } else { self }
    }
}

/// What a config file or a fleet says of one tweak.
struct SourceLayer: Sendable {
    let layer: TweakLayer
    /// Nil: it has no longer a value for it.
    let entry: Overlays.Entry?
    /// Whether the value wins over the override above it.
    var dropsOverride = false
    /// What there is to say afterwards about the value beneath the override.
    let beneath: (old: TweakValue, new: TweakValue)?
}

extension Overlays {
    /// Override and temporary override.
    var setLayers: SetLayers {
        // Most tweaks that are set have an override, and nothing else.
        guard let last = entries.last, last.layer >= .override else { return SetLayers() }
        if last.layer == .override { return SetLayers(override: last) }
        return SetLayers(override: self[.override], temporary: last)
    }

    /// Changes the layers. False when they were so already.
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
            let beneath = self[.override] == nil ? nil : source.beneath
            notes = OverlayNotes(aside: notes?.aside ?? [], beneath: beneath)
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
        _ layers: SetLayers, origin: TweakOrigin, at moment: Moment
    ) -> Bool {
        let before = setLayers
        // The same value for another while is something else to put back.
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
