// Where `find` and `complete` do their work: beside the I/O thread, one after the other.

import Dispatch
import Synchronization
import Tweaks

/// Searches the tweaks of a registry, and keeps what makes that fast until the registry has other tweaks.
final class Finder: Sendable {
    /// What was found, without values: these are read when the reply is made, so that no event can be older.
    struct Found: Sendable {
        let nodes: [TweakNode]
        /// How many fit beside them.
        let more: Int
    }

    /// How many tweaks are shown at most.
    static let mostShown = 100

    private let registry: TweakRegistry
    private let queue = DispatchQueue(label: "tweaks.find", qos: .userInitiated)
    private let cached = Mutex<FindIndex?>(nil)

    init(registry: TweakRegistry) { self.registry = registry }

    /// Runs something with the listing, which may have to be made first.
    func withListing(_ body: @escaping @Sendable (TweakListing) -> Void) {
        queue.async { [registry] in body(registry.listing()) }
    }

    /// Looks for words.
    func find(_ words: [String], then: @escaping @Sendable (Found) -> Void) {
        withListing { [self] listing in
            let result = FindQuery(words).run(index(of: listing), listing, limit: Self.mostShown)
            then(Found(nodes: result.best.map { listing.nodes[$0] }, more: result.count - result.best.count))
        }
    }

    private func index(of listing: TweakListing) -> FindIndex {
        if let index = cached.withLock({ $0 }), index.generation == listing.generation { return index }
        let index = FindIndex(listing)
        cached.withLock { $0 = index }
        return index
    }
}
