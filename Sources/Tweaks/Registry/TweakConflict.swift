// Two declarations of one path that disagree.

import Synchronization

/// The same path was declared twice with another default, range or description. The first declaration holds.
public struct TweakConflict: Sendable, CustomStringConvertible {
    /// The tweak.
    public let path: TweakPath
    /// Where the declaration stands that holds.
    public let first: TweakSource
    /// Where the one stands that was ignored.
    public let second: TweakSource
    /// What differs.
    public let differences: String

    /// One line that names both places.
    public var description: String {
        "\(path.token) is declared at \(first) and differently at \(second) (\(differences)); the first holds"
    }
}

extension TweakRegistry {
    /// The declarations that disagree, in the order in which they were met.
    public var conflicts: [TweakConflict] { state.withLock { $0.conflicts } }

    /// Calls `handler` once for each conflict: now for those known already, later on the thread that declares.
    public func onConflict(_ handler: @escaping @Sendable (TweakConflict) -> Void) {
        let known = state.withLock { state in
            state.conflictHandlers.append(handler)
            return state.conflicts
        }
        for conflict in known { handler(conflict) }
    }

    /// Reports a conflict unless the same two places were reported before.
    func report(_ conflict: TweakConflict) {
        let handlers = state.withLock { state -> [@Sendable (TweakConflict) -> Void] in
            let isKnown = state.conflicts.contains { $0.path == conflict.path && $0.second == conflict.second }
            if isKnown { return [] }
            state.conflicts.append(conflict)
            return state.conflictHandlers
        }
        for handler in handlers { handler(conflict) }
    }
}

extension TweakSource: Equatable {
    /// Compares file and line.
    public static func == (left: TweakSource, right: TweakSource) -> Bool {
        left.line == right.line && left.description == right.description
    }
}
