// Runs `find` and `complete` on a serial queue, off the I/O thread.

import Dispatch
import Synchronization
import Tweaks
import TweaksWire

/// Searches the tweaks of a registry, and caches the index until the registered tweaks change.
final class Finder: Sendable {
    /// The matching tweaks, without values: these are read when the reply is made, so that no event can be older.
    struct Found: Sendable {
        let nodes: [TweakNode]
        /// The number of further matches.
        let more: Int
    }

    /// The maximum number of tweaks to show.
    static let maxResults = 100

    private let queue = DispatchQueue(label: "tweaks.find", qos: .userInitiated)
    private let cached = Mutex<[(rights: Rights, generation: UInt64, index: FindIndex)]>([])
    /// The maximum number of indexes to cache, one for each set of rights: they are large.
    private static let maxIndexes = 4

    /// Runs work on the queue.
    func work(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Searches the tweaks of a view for words.
    func find(_ words: [String], _ view: TweakView, then: @escaping @Sendable (Found) -> Void) {
        work { [self] in
            let listing = view.listing
            let result = FindQuery(words).run(index(of: listing, view), limit: Self.maxResults) {
                listing.nodes[$0].path.joined
            }
            then(Found(nodes: result.best.map { listing.nodes[$0] }, more: result.count - result.best.count))
        }
    }

    private func index(of listing: TweakListing, _ view: TweakView) -> FindIndex {
        // All views of everything share an index.
        let rights = view.isWhole ? .all : view.rights
        let known = cached.withLock { $0.first { $0.rights == rights && $0.generation == listing.generation }?.index }
        if let known { return known }
        let index = FindIndex(listing)
        cached.withLock { cached in
            cached.removeAll { $0.rights == rights || $0.generation != listing.generation }
            if cached.count >= Self.maxIndexes { cached.removeFirst() }
            cached.append((rights, listing.generation, index))
        }
        return index
    }
}

extension FindIndex {
    /// Indexes the text of one state of a registry.
    init(_ listing: TweakListing) {
        self.init(
            count: listing.count,
            listing.groups.lazy.flatMap { group in
                group.nodes.lazy.map { node in
                    let definition = node.definition
                    return Subject(
                        node.path.joined, (group.category, group.collection, node.path.name),
                        [definition.help, definition.unit] + definition.choices.flatMap { [$0.name, $0.label] })
                }
            })
    }
}
