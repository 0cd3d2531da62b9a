// Records which source granted each right of a session.

import Tweaks

/// The scopes granted to one session, by source, and those it has dropped. A drop does not affect scopes granted later.
struct Grants {
    enum Source: Equatable {
        /// The user as the kernel reports it, or what every client of the listener may do.
        case peer
        case token(name: String)
        case request
    }

    private struct Grant {
        let source: Source
        var scopes: [TweakScope]
        var dropped: [TweakScope] = []
    }

    private var grants: [Grant] = []
    /// The rights that follow from all grants.
    private(set) var rights = Rights()

    /// Adds a grant.
    mutating func add(_ scopes: [TweakScope], from source: Source) {
        grants.append(Grant(source: source, scopes: scopes))
        update()
    }

    /// Replaces the scopes of a source; dropped scopes stay dropped.
    mutating func replace(_ scopes: [TweakScope], from source: Source) {
        for index in grants.indices where grants[index].source == source { grants[index].scopes = scopes }
        update()
    }

    /// Removes the grants of a source.
    mutating func remove(_ source: Source) {
        grants.removeAll { $0.source == source }
        update()
    }

    /// Drops scopes permanently; only a later grant restores them.
    mutating func drop(_ scopes: [TweakScope]) {
        for index in grants.indices { grants[index].dropped += scopes.filter { !grants[index].dropped.contains($0) } }
        update()
    }

    var count: Int { grants.count }

    /// The largest number of scopes dropped from one grant.
    var droppedCount: Int { grants.reduce(0) { max($0, $1.dropped.count) } }

    private mutating func update() {
        rights = grants.reduce(Rights()) { $0.union(Rights($1.scopes, without: $1.dropped)) }
    }
}
