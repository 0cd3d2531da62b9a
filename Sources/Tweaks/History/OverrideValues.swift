// Holds the override values of a tweak for the history, with the expiry of a temporary one.

/// Override and temporary override of one tweak, without their origins; nil if absent.
package struct OverrideValues: Sendable {
    package var override: TweakValue?
    package var temporary: Temporary?

    /// A temporary override. Boxed, since few commits have one.
    package final class Temporary: Sendable {
        package let value: TweakValue
        /// When it was set.
        package let time: ContinuousClock.Instant
        package let expires: ContinuousClock.Instant

        package init(_ value: TweakValue, time: ContinuousClock.Instant, expires: ContinuousClock.Instant) {
            (self.value, self.time, self.expires) = (value, time, expires)
        }
    }

    package init(override: TweakValue? = nil, temporary: Temporary? = nil) {
        (self.override, self.temporary) = (override, temporary)
    }

    init(_ layers: OverrideLayers) {
        override = layers.override?.prepared.value
        temporary = layers.temporary.flatMap { entry in
            entry.expires.map { Temporary(entry.prepared.value, time: entry.time, expires: $0) }
        }
    }

    /// The same values without an expired temporary override.
    func live(_ time: ContinuousClock.Instant) -> OverrideValues {
        guard let temporary, temporary.expires <= time else { return self }
        return OverrideValues(override: override)
    }

    /// Whether the values are the same. An expired override counts as absent.
    func agrees(with other: OverrideValues, at time: ContinuousClock.Instant) -> Bool {
        override == other.override && live(time).temporary?.value == other.live(time).temporary?.value
    }

    /// The layers to be restored; the restoring commit validates the values.
    var layers: OverrideLayers {
        OverrideLayers(
            override: override.map { entry(.override, $0, nil) },
            temporary: temporary.map { entry(.temporaryOverride, $0.value, $0) })
    }

    private func entry(_ layer: LayerIndex, _ value: TweakValue, _ temporary: Temporary?) -> Overlays.Entry {
        // The restoring commit replaces origin and time.
        Overlays.Entry(
            layer: layer, prepared: Prepared(value: value, typed: .object(value)), origin: .code,
            moment: temporary.map { Moment($0.time) } ?? .now, end: temporary.map { Moment($0.expires) })
    }
}

extension Overlays {
    /// The override values. Read at every commit, so nothing else is copied.
    var overrideValues: OverrideValues {
        guard let layer = topLayer, layer.isOverride else { return OverrideValues() }
        return layer == .override ? OverrideValues(override: top?.value) : OverrideValues(overrideLayers)
    }
}
