// How long a temporary override may last, and what is left of one that is put back.

extension TweakNode {
    /// The longest life of a temporary override: a year. Whoever means longer means for good.
    package static let longestLifetime = Duration.seconds(365 * 86_400)

    /// A lifetime that was asked for.
    func judge(_ lifetime: Duration) throws(TweakError) -> Duration {
        if lifetime > .zero, lifetime <= Self.longestLifetime { return lifetime }
        throw TweakError(
            .outOfRange,
            "\(path.token): a temporary override lasts more than nothing and up to 8760h; write for 10m, or leave it out "
                + "to set it for good", path: path)
    }

    /// What was set once, judged by today's definition.
    func judge(
        _ layers: SetLayers, at time: ContinuousClock.Instant, _ policy: TweakPolicy?
    ) throws(TweakError) -> SetLayers {
        SetLayers(
            override: try judge(layers.override, policy),
            temporary: try judge(layers.temporary?.unlessExpired(Moment(time)), policy))
    }

    private func judge(_ entry: Overlays.Entry?, _ policy: TweakPolicy?) throws(TweakError) -> Overlays.Entry? {
        guard var entry else { return nil }
        entry.prepared = try prepare(entry.prepared.value, policy: policy).prepared
        return entry
    }
}
