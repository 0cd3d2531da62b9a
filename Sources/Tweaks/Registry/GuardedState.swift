// Guards a registry's state with a mutex and defers the release of program objects until it is unlocked.

import Synchronization

/// A registry's state behind its only lock.
///
/// Values, closures and objects that the state drops are released after unlocking: their deinitializers run code of
/// the program, which may use the registry.
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
    /// Defers the release of a tweak's layer values until the lock is free; called before they change.
    mutating func deferLayerRelease(of node: TweakNode) {
        guard node.holdsObjects else { return }
        for entry in overlays[node.slot].entries { released.append(entry.prepared) }
    }

    /// Stores a value in the cell that the program reads.
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
