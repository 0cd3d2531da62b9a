// Reports conflicting declarations: different definitions of one path, or two paths that look the same.

/// Two conflicting declarations.
///
/// Either a path was declared twice with another default, range or description, and the first declaration is used; or
/// two paths look the same, and both are used.
public struct TweakConflict: Sendable, CustomStringConvertible {
    /// The tweak.
    public let path: TweakPath
    /// The source location of the first declaration, which is used.
    public let first: TweakSource
    /// The source location of the second declaration, which is ignored if the paths are the same.
    public let second: TweakSource
    /// The differences, as text.
    public let differences: String
    /// The path that looks like this one; nil if the same path was declared twice.
    public let lookAlike: TweakPath?

    init(path: TweakPath, first: TweakSource, second: TweakSource, differences: String) {
        self.path = path
        self.first = first
        self.second = second
        self.differences = differences
        lookAlike = nil
    }

    /// A conflict of two paths that look the same.
    init(_ node: TweakNode, looksLike other: TweakNode) {
        path = node.path
        lookAlike = other.path
        first = other.source
        second = node.source
        let own = Array(node.path.joined.unicodeScalars)
        let others = Array(other.path.joined.unicodeScalars)
        let position = own.indices.first { !others.indices.contains($0) || own[$0] != others[$0] } ?? own.count
        let scalars = [own, others].map { $0.indices.contains(position) ? $0[position].codePoint : "its end" }
        differences = "\(scalars[0]) for \(scalars[1]) at character \(position + 1)"
    }

    /// One line with both source locations.
    public var description: String {
        if let lookAlike {
            return "\(path.token), declared at \(second), looks like \(lookAlike.token), declared at \(first) "
                + "(\(differences)); rename one of them"
        }
        return "\(path.token) is declared at \(first) and differently at \(second) (\(differences)); the first is used"
    }
}

/// A registered conflict handler; it stays registered when this value is released.
public struct TweakConflictObservation: Sendable {
    let remove: @Sendable () -> Void

    /// Removes the handler: no more calls start. A call on another thread may still be running.
    public func cancel() { remove() }
}

/// A handler with an identity, so that it can be removed.
final class ConflictHandler: Sendable {
    let call: @Sendable (TweakConflict) -> Void

    init(_ call: @escaping @Sendable (TweakConflict) -> Void) { self.call = call }
}

extension TweakRegistry {
    /// The conflicts, in the order in which they were found.
    public var conflicts: [TweakConflict] { state.withLock { $0.conflicts } }

    /// Calls `handler` once for each conflict: now for known ones, later on the thread that declares. The handler stays
    /// registered until the result is canceled; each handler is independent of the others.
    ///
    /// ```swift
    /// registry.onConflict { log.warning("\($0)") }
    /// ```
    @discardableResult
    public func onConflict(_ handler: @escaping @Sendable (TweakConflict) -> Void) -> TweakConflictObservation {
        let handler = ConflictHandler(handler)
        let known = state.withLock { state in
            state.conflictHandlers.append(handler)
            return state.conflicts
        }
        for conflict in known { handler.call(conflict) }
        return TweakConflictObservation { [weak self] in
            self?.state.withLock { $0.conflictHandlers.removeAll { $0 === handler } }
        }
    }

    /// Reports a conflict unless it was already reported for the same path and the same second location.
    func report(_ conflict: TweakConflict) {
        let handlers = state.withLock { state -> [ConflictHandler] in
            let isKnown = state.conflicts.contains { $0.path == conflict.path && $0.second == conflict.second }
            if isKnown { return [] }
            state.conflicts.append(conflict)
            return state.conflictHandlers
        }
        for handler in handlers { handler.call(conflict) }
    }
}

extension TweakSource: Equatable {
    /// Compares file and line.
    public static func == (left: TweakSource, right: TweakSource) -> Bool {
        left.line == right.line && left.description == right.description
    }
}
