// How those who follow tweaks learn of new values, under the lock: of a whole commit at once.

/// A new value of one tweak, which is the current one already.
struct Publication: Sendable {
    let node: TweakNode
    let change: PendingChange
    /// Where the new value comes from.
    let layer: TweakLayer
}

extension RegistryState {
    /// Makes a value the current one. Who follows the tweak learns of it at once, or by `announce` with all of the commit;
    /// of a secret that was set to what it is already, feeds alone.
    mutating func publish(
        _ node: TweakNode, old: Prepared, new: Prepared, origin: TweakOrigin, revision: UInt64,
        _ effects: inout CommitEffects
    ) {
        let isNew = new.value != old.value
        if isNew {
            for subscriber in observers[node.slot].all { subscriber.count() }
            store(new, in: node)
        }
        if observers[node.slot].all.isEmpty, feeds.isEmpty { return }
        let change = PendingChange(node: node, old: old, new: new, origin: origin, revision: revision)
        let publication = Publication(node: node, change: change, layer: overlays[node.slot].topLayer ?? .default)
        if !effects.isWhole { return effects.published.append(publication) }
        if isNew { notifyObservers(publication, &effects) }
        feed(CollectionOfOne(publication), &effects)
    }

    /// Notes what was published for everybody who follows it. Each may be taken by its reader at once, on another
    /// thread: so all new values are current by now, and a feed gets them in one piece.
    mutating func announce(_ effects: inout CommitEffects) {
        for publication in effects.published where publication.change.old.value != publication.change.new.value {
            notifyObservers(publication, &effects)
        }
        feed(effects.published, &effects)
        effects.published = []
    }

    private mutating func notifyObservers(_ publication: Publication, _ effects: inout CommitEffects) {
        let following = observers[publication.node.slot].all
        if following.isEmpty { return }
        for subscriber in following {
            let replaced = subscriber.enqueue(publication.change)
            if let replaced, publication.node.holdsObjects { released.append(replaced) }
        }
        // The first list is shared, not copied: most commits change one tweak.
        if effects.subscribers.isEmpty {
            effects.subscribers = following
        } else {
            effects.subscribers.append(contentsOf: following)
        }
        effects.observerExecutor = observerExecutor
    }

    private func feed(_ published: some Collection<Publication>, _ effects: inout CommitEffects) {
        // A figure is published alone; it is looked at by those who want to know, and is no commit.
        guard !feeds.isEmpty, let first = published.first, !first.node.definition.flags.contains(.readOnly) else {
            return
        }
        for feed in feeds { feed.append(published) }
        effects.feeds = feeds
    }
}
