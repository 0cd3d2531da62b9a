// Where the rights of a session come from.

import Tweaks

/// What was given to one session, by whom, and what it gave up. Rights that come later are not touched by what was given
/// up before.
struct Grants {
    enum Source: Equatable {
        /// Who it is, by the kernel's word; or what everybody has here.
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
    /// What follows from all of it.
    private(set) var rights = Rights()

    /// Gives something in addition.
    mutating func add(_ scopes: [TweakScope], from source: Source) {
        grants.append(Grant(source: source, scopes: scopes))
        update()
    }

    /// Replaces what a source has given; what was given up of it stays so.
    mutating func replace(_ scopes: [TweakScope], from source: Source) {
        for index in grants.indices where grants[index].source == source { grants[index].scopes = scopes }
        update()
    }

    /// Takes back what a source has given.
    mutating func remove(_ source: Source) {
        grants.removeAll { $0.source == source }
        update()
    }

    /// Gives up something for good; only what comes later can bring it back.
    mutating func drop(_ scopes: [TweakScope]) {
        for index in grants.indices { grants[index].dropped += scopes.filter { !grants[index].dropped.contains($0) } }
        update()
    }

    var count: Int { grants.count }

    /// How much was given up.
    var droppedCount: Int { grants.reduce(0) { max($0, $1.dropped.count) } }

    private mutating func update() {
        rights = grants.reduce(Rights()) { $0.union(Rights($1.scopes, without: $1.dropped)) }
    }
}
