// The lock around a registry's state, under which nothing of the program's own is let go of.

import Synchronization

/// A registry's state under its one lock. What the state gives up is released once the lock is free: values, closures and
/// objects of the program run its code when they go, and that may use the registry.
struct GuardedState: ~Copyable, Sendable {
    private let state = Mutex(RegistryState())

    func withLock<Result, Failure: Error>(
        _ body: (inout sending RegistryState) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        var released: [any Sendable] = []
        defer { withExtendedLifetime(released) {} }
        return try state.withLock { state throws(Failure) in
            defer { state.takeReleased(&released) }
            return try body(&state)
        }
    }
}

extension RegistryState {
    /// Keeps what a tweak's layers hold until the lock is free; called before they change.
    mutating func spareLayers(of node: TweakNode) {
        guard node.holdsObjects else { return }
        for entry in overlays[node.slot].entries { released.append(entry.prepared) }
    }

    /// Makes a value the one that programs read.
    mutating func store(_ prepared: Prepared, in node: TweakNode) {
        node.store(prepared, &released)
    }

    fileprivate mutating func takeReleased(_ taken: inout [any Sendable]) {
        if !history.released.isEmpty {
            released.append(history.released)
            history.released = []
        }
        if !released.isEmpty { swap(&taken, &released) }
    }
}
