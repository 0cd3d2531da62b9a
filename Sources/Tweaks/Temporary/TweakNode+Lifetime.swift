// Validates lifetimes of temporary overrides, and overrides that are restored.

extension TweakNode {
    /// The maximum lifetime of a temporary override: one year. Longer ones should be permanent.
    package static let maxLifetime = Duration.seconds(365 * 86_400)

    /// Returns a requested lifetime if it is valid.
    func validate(_ lifetime: Duration) throws(TweakError) -> Duration {
        if lifetime > .zero, lifetime <= Self.maxLifetime { return lifetime }
        throw TweakError(
            .outOfRange,
            "\(path.token): a temporary override lasts longer than 0 and at most 8760h; write for 10m, or leave it out "
                + "for a permanent override", path: path)
    }

    /// Validates earlier overrides against the current definition.
    func validate(
        _ layers: OverrideLayers, at time: ContinuousClock.Instant, _ policy: TweakPolicy?
    ) throws(TweakError) -> OverrideLayers {
        OverrideLayers(
            override: try validate(layers.override, policy),
            temporary: try validate(layers.temporary?.unlessExpired(Moment(time)), policy))
    }

    private func validate(_ entry: Overlays.Entry?, _ policy: TweakPolicy?) throws(TweakError) -> Overlays.Entry? {
        guard var entry else { return nil }
        entry.prepared = try prepare(entry.prepared.value, policy: policy).prepared
        return entry
    }
}
