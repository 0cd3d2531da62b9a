// Restricts a registry to the tweaks that a session's rights make visible.

import Synchronization

/// A registry as seen with certain rights.
///
/// It behaves like a registry that contains only the visible tweaks: a hidden tweak cannot be distinguished from one
/// that does not exist.
package struct TweakView: Sendable {
    package let registry: TweakRegistry
    package let rights: Rights

    /// - Parameter rights: By default, everything.
    package init(_ registry: TweakRegistry, _ rights: Rights = .all) {
        self.registry = registry
        self.rights = rights
    }

    /// Whether everything is visible.
    package var isWhole: Bool { rights.isWhole(.read) }

    /// The visible tweaks, in listing order.
    package var listing: TweakListing { registry.listing(seenWith: rights) }

    /// The number of visible tweaks and actions.
    package var count: Int { isWhole ? registry.count : listing.count }

    /// The tweak or action with this path; nil if there is none.
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

    /// Whether these rights allow replies about a path without a tweak.
    package func canSee(_ path: TweakPath) -> Bool { rights.allows(.read, path) }
}
