// Whose turn it is: of those that set values of one registry for a while, one at a time does.

import Synchronization
import Tweaks

/// A lock that is waited for without keeping a thread, first come, first served.
final class Turn: Sendable {
    /// Nil while it is free.
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>(nil)

    /// Runs the body while no other task does.
    func take<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await withCheckedContinuation { join($0) }
        defer { pass() }
        return try await body()
    }

    private func join(_ continuation: CheckedContinuation<Void, Never>) {
        let isFree = waiting.withLock { waiting in
            defer { waiting = (waiting ?? []) + (waiting == nil ? [] : [continuation]) }
            return waiting == nil
        }
        if isFree { continuation.resume() }
    }

    private func pass() {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard let queue = waiting, let first = queue.first else {
                waiting = nil
                return nil
            }
            waiting = Array(queue.dropFirst())
            return first
        }
        next?.resume()
    }
}

extension TweakRegistry {
    /// Runs the body when it is the task's turn with this registry. Within the body, the task and its children take turns
    /// among themselves.
    func takeTurn<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        let key = ObjectIdentifier(self)
        // Each turn has one of its own for those within it: a task never waits for itself.
        var within = Turns.ofTask
        within[key] = Turn()
        return try await (Turns.ofTask[key] ?? Turns.outermost(key)).take {
            try await Turns.$ofTask.withValue(within) { try await body() }
        }
    }
}

/// Turns by registry.
private enum Turns {
    @TaskLocal static var ofTask: [ObjectIdentifier: Turn] = [:]
    // Never removed: a process has few registries that tests share, and another one at the same address may use it, too.
    private static let all = Mutex<[ObjectIdentifier: Turn]>([:])

    static func outermost(_ key: ObjectIdentifier) -> Turn {
        all.withLock { turns in
            let turn = turns[key] ?? Turn()
            turns[key] = turn
            return turn
        }
    }
}
