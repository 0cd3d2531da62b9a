// What of a registry somebody sees: the rest is not there for him.

import Synchronization

/// A registry as it looks with certain rights.
///
/// It answers as a registry would in which nothing else was ever registered: what is hidden is not told from what does
/// not exist.
package struct TweakView: Sendable {
    package let registry: TweakRegistry
    package let rights: Rights

    /// - Parameter rights: Everything, unless told otherwise.
    package init(_ registry: TweakRegistry, _ rights: Rights = .all) {
        self.registry = registry
        self.rights = rights
    }

    /// Whether all is seen.
    package var isWhole: Bool { rights.isWhole(.read) }

    /// What is seen, in the order of all listings.
    package var listing: TweakListing { registry.listing(seenWith: rights) }

    /// How many tweaks and actions are seen.
    package var count: Int { isWhole ? registry.count : listing.count }

    /// The tweak or action with this path; nil where there is none.
    package subscript(path: String) -> AnyTweak? {
        registry[path].flatMap { rights.sees($0.node) ? $0 : nil }
    }

    /// The tweak or action that has this path, or had it in an earlier version of the program.
    func node(orFormerly path: String) -> TweakNode? {
        if let tweak = self[path] { return tweak.node }
        let former = registry.state.withLock { state in
            state.formerly.isEmpty ? nil : (try? TweakPath(path)).flatMap { state.formerly[$0] }
        }
        return former.flatMap { rights.sees($0) ? $0 : nil }
    }

    /// Whether something may be said of a path that no tweak has.
    package func knows(_ path: TweakPath) -> Bool { rights.allows(.read, path) }
}
