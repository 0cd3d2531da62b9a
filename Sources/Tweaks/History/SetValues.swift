// What people had set of a tweak, as far as the history needs it: values, and when a temporary one ends.

/// Override and temporary override of one tweak, without those who set them; nil: none.
package struct SetValues: Sendable {
    package var override: TweakValue?
    package var temporary: Temporary?

    /// A temporary override. Few commits have one, so it is kept elsewhere.
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

    init(_ layers: SetLayers) {
        override = layers.override?.prepared.value
        temporary = layers.temporary.flatMap { entry in
            entry.expires.map { Temporary(entry.prepared.value, time: entry.time, expires: $0) }
        }
    }

    /// The same without what has run out.
    func live(_ time: ContinuousClock.Instant) -> SetValues {
        guard let temporary, temporary.expires <= time else { return self }
        return SetValues(override: override)
    }

    /// Whether the values are the same. What has run out counts as none.
    func agrees(with other: SetValues, at time: ContinuousClock.Instant) -> Bool {
        override == other.override && live(time).temporary?.value == other.live(time).temporary?.value
    }

    /// To be put back, which judges the values.
    var layers: SetLayers {
        SetLayers(
            override: override.map { entry(.override, $0, nil) },
            temporary: temporary.map { entry(.temporaryOverride, $0.value, $0) })
    }

    private func entry(_ layer: TweakLayer, _ value: TweakValue, _ temporary: Temporary?) -> Overlays.Entry {
        // Who set it, and when, is replaced by who puts it back.
        Overlays.Entry(
            layer: layer, prepared: Prepared(value: value, typed: .object(value)), origin: .code,
            time: temporary?.time ?? .now, expires: temporary?.expires)
    }
}

extension Overlays {
    /// What is set, as values. Asked at every commit, so nothing else is copied.
    var setValues: SetValues {
        guard let layer = topLayer, layer >= .override else { return SetValues() }
        return layer == .override ? SetValues(override: top?.value) : SetValues(setLayers)
    }
}
