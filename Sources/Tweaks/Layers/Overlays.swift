// Holds the values of a tweak's layers above its default, and changes them.

/// A value that is validated and converted, ready to be stored.
package struct Prepared: Sendable {
    package let value: TweakValue
    /// The value in the form that the tweak's cell stores.
    let typed: TypedValue
}

/// A value in its Swift type. Most types fit a word, which is copied without runtime calls; others are boxed, so that
/// copying stays cheap.
struct TypedValue: Sendable {
    /// A box for a value that does not fit a word.
    final class Object: Sendable {
        let value: any Sendable
        /// The index in the cell's list of choices; nil for other values.
        let position: Int?

        fileprivate init(_ value: any Sendable, position: Int?) {
            self.value = value
            self.position = position
        }
    }

    let word: UInt64
    /// Nil if the word is the value.
    let object: Object?

    static func word(_ word: UInt64) -> TypedValue { TypedValue(word: word, object: nil) }

    static func object(_ value: any Sendable, position: Int? = nil) -> TypedValue {
        TypedValue(word: 0, object: Object(value, position: position))
    }

    /// The value; nil if it has another type.
    func value<Value: TweakStorable>(as type: Value.Type) -> Value? {
        if let object { object.value as? Value } else { Value.tweakValue(ofWord: word) }
    }
}

/// The layers above a tweak's default, lowest first.
struct Overlays: Sendable {
    struct Entry: Sendable {
        let layer: LayerIndex
        var prepared: Prepared
        var origin: TweakOrigin
        var time: Moment
        /// When it expires; nil unless it is a temporary override.
        var end: Moment?

        /// The entry; nil if it is an expired temporary override.
        func unlessExpired(_ time: Moment) -> Entry? { end.map { $0 <= time } == true ? nil : self }
    }

    private(set) var entries: [Entry] = []
    /// The revision of the last commit that touched this tweak.
    var changedAt: UInt64 = 0
    /// The revision of the last preview that began or ended for this tweak.
    var shownAt: UInt64 = 0
    /// What a source has said beyond the values in use.
    var notes: OverlayNotes?

    var top: Prepared? { entries.last?.prepared }

    // Accessed by index: copying the last entry would cost more than reading one property.

    /// When the current value expires.
    var end: Moment? { entries.isEmpty ? nil : entries[entries.count - 1].end }

    /// The highest layer; nil without any.
    var topLayer: LayerIndex? { entries.isEmpty ? nil : entries[entries.count - 1].layer }

    /// The highest layer and its origin; nil without any.
    var source: (layer: LayerIndex, origin: TweakOrigin)? {
        entries.isEmpty ? nil : (entries[entries.count - 1].layer, entries[entries.count - 1].origin)
    }

    /// Whether there is an override, permanent or temporary.
    var isSet: Bool { topLayer.map { $0.isOverride } ?? false }

    /// The override in effect, which may be a temporary one; nil without one.
    var topOverride: Entry? { isSet ? entries.last : nil }

    /// The highest layer below the overrides; nil if that is the default.
    var underlying: Entry? { entries.last { !$0.layer.isOverride } }

    subscript(layer: LayerIndex) -> Entry? { position(of: layer).map { entries[$0] } }

    private func position(of layer: LayerIndex) -> Int? {
        for position in entries.indices where entries[position].layer == layer { return position }
        return nil
    }

    /// Sets the entry of a layer, whose place the table tells.
    mutating func set(_ entry: Entry, in layers: LayerTable) {
        if let position = position(of: entry.layer) {
            entries[position] = entry
        } else {
            entries.insert(entry, at: entries.firstIndex { layers.precedes(entry.layer, $0.layer) } ?? entries.count)
        }
    }

    /// Updates origin and time of a layer that has an equal value: lines move when a file is edited.
    /// - Parameter time: Nil leaves the time as it is.
    mutating func refresh(_ layer: LayerIndex, _ value: TweakValue, _ origin: TweakOrigin, _ time: Moment?) {
        guard let position = position(of: layer), entries[position].prepared.value == value else { return }
        entries[position].origin = origin
        if let time { entries[position].time = time }
    }

    /// Removes a layer. Returns false if it is absent.
    @discardableResult
    mutating func remove(_ layer: LayerIndex) -> Bool {
        guard let position = position(of: layer) else { return false }
        entries.remove(at: position)
        return true
    }
}

// MARK: - Changing

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
    /// Ends a temporary override that has expired by a time.
    case expire(Moment)
    /// Restores earlier overrides, for undo and redo.
    indirect case restore(RestoredOverrides)
    /// Sets or removes the layer of a source.
    indirect case source(SourceChange)

    /// The current value afterwards, if it does not depend on the present layers or on the time.
    var prepared: Prepared? {
        switch self {
        case .override(let prepared), .temporary(let prepared, _): prepared
        case .keep, .reset, .expire, .restore, .source: nil
        }
    }

    /// Whether it affects a layer. Setting or expiring a temporary override does not affect the layers below it.
    func affects(_ layer: LayerIndex) -> Bool {
        switch self {
        case .temporary, .expire: layer == .temporaryOverride
        case .source(let change): layer == change.layer || layer == .override && change.dropsOverride
        case .override, .keep, .reset, .restore: layer.isOverride
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

/// Validated overrides that are restored; nil if absent.
struct RestoredOverrides: Sendable {
    var override: Prepared?
    var temporary: Prepared?
    /// When the temporary override ends.
    var end: Moment?
}

/// The new value of one tweak from a source.
struct SourceChange: Sendable {
    let layer: LayerIndex
    /// The new entry; nil to remove the layer.
    let entry: Overlays.Entry?
    /// Whether it removes the override above it.
    var dropsOverride = false
    /// The change of the value below the override since the override was set; nil if there is none.
    let underlyingChange: (old: TweakValue, new: TweakValue)?
}

extension Overlays {
    /// Changes the layers. Returns false if nothing changed.
    mutating func apply(
        _ change: LayerChange, origin: TweakOrigin, at time: Moment, in layers: LayerTable
    ) -> Bool {
        switch change {
        case .override(let prepared): return override(prepared, origin: origin, at: time)
        case .temporary(let prepared, let lifetime):
            remove(.temporaryOverride)
            entries.append(
                Entry(
                    layer: .temporaryOverride, prepared: prepared, origin: origin, time: time,
                    end: time.advanced(by: lifetime)))
            return true
        case .keep: return keep(origin: origin, at: time)
        case .reset: return removeOverrides()
        case .expire(let due):
            guard self[.temporaryOverride]?.unlessExpired(due) == nil else { return false }
            return remove(.temporaryOverride)
        case .restore(let earlier): return restore(earlier, origin: origin, at: time)
        case .source(let change):
            apply(change, in: layers)
            return true
        }
    }

    /// Sets the override and ends a temporary one. Returns false if nothing changed.
    @inline(__always)
    mutating func override(_ prepared: Prepared, origin: TweakOrigin, at time: Moment) -> Bool {
        // Fast path: the override is on top.
        if let last = entries.indices.last, entries[last].layer == .override {
            if entries[last].prepared.value == prepared.value { return false }
            entries[last].prepared = prepared
            entries[last].origin = origin
            entries[last].time = time
            return true
        }
        removeOverrides()
        entries.append(Entry(layer: .override, prepared: prepared, origin: origin, time: time))
        return true
    }

    private mutating func keep(origin: TweakOrigin, at time: Moment) -> Bool {
        guard let temporary = self[.temporaryOverride] else { return false }
        removeOverrides()
        entries.append(Entry(layer: .override, prepared: temporary.prepared, origin: origin, time: time))
        return true
    }

    /// Removes override and temporary override. Returns false if there were none.
    @discardableResult
    private mutating func removeOverrides() -> Bool {
        let count = entries.count
        while isSet { entries.removeLast() }
        return entries.count < count
    }

    private mutating func restore(
        _ earlier: RestoredOverrides, origin: TweakOrigin, at time: Moment
    ) -> Bool {
        let override = self[.override]
        let temporary = self[.temporaryOverride]
        // It may have expired since it was validated.
        let isLive = earlier.end.map { $0 > time } ?? false
        let restored = isLive ? earlier.temporary : nil
        // The same value with another expiry is a change, too.
        if override?.prepared.value == earlier.override?.value,
            temporary?.unlessExpired(time)?.prepared.value == restored?.value,
            temporary?.end == (isLive ? earlier.end : nil)
        {
            return false
        }
        removeOverrides()
        if let prepared = earlier.override {
            entries.append(Entry(layer: .override, prepared: prepared, origin: origin, time: time))
        }
        if let restored {
            entries.append(
                Entry(
                    layer: .temporaryOverride, prepared: restored, origin: origin, time: time, end: earlier.end))
        }
        return true
    }

    private mutating func apply(_ change: SourceChange, in layers: LayerTable) {
        remove(change.layer)
        if let entry = change.entry { set(entry, in: layers) }
        if change.dropsOverride { remove(.override) }
        notes = OverlayNotes(
            quarantined: notes?.quarantined ?? [],
            underlyingChange: self[.override] == nil ? nil : change.underlyingChange)
    }
}
