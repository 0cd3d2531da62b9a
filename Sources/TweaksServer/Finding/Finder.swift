// Where `find` and `complete` do their work: beside the I/O thread, one after the other.

import Dispatch
import Synchronization
import Tweaks
import TweaksWire

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

    private let queue = DispatchQueue(label: "tweaks.find", qos: .userInitiated)
    private let cached = Mutex<[(rights: Rights, generation: UInt64, index: FindIndex)]>([])
    /// For so many different rights an index is kept: it is large.
    private static let mostIndexes = 4

    /// Runs something here.
    func work(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Looks for words in what somebody sees.
    func find(_ words: [String], _ view: TweakView, then: @escaping @Sendable (Found) -> Void) {
        work { [self] in
            let listing = view.listing
            let result = FindQuery(words).run(index(of: listing, view), limit: Self.mostShown) {
                listing.nodes[$0].path.joined
            }
            then(Found(nodes: result.best.map { listing.nodes[$0] }, more: result.count - result.best.count))
        }
    }

    private func index(of listing: TweakListing, _ view: TweakView) -> FindIndex {
        // Whoever sees everything sees the same.
        let rights = view.isWhole ? .all : view.rights
        let known = cached.withLock { $0.first { $0.rights == rights && $0.generation == listing.generation }?.index }
        if let known { return known }
        let index = FindIndex(listing)
        cached.withLock { cached in
            cached.removeAll { $0.rights == rights || $0.generation != listing.generation }
            if cached.count >= Self.mostIndexes { cached.removeFirst() }
            cached.append((rights, listing.generation, index))
        }
        return index
    }
}

extension FindIndex {
    /// The text of one state of a registry.
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
