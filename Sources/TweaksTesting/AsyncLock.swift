// Serializes tasks that set values of one registry, without blocking threads.

import Synchronization
import Tweaks

/// A FIFO lock that suspends waiting tasks instead of blocking their threads.
final class AsyncLock: Sendable {
    /// The waiting tasks; nil while the lock is free.
    private let waiters = Mutex<[CheckedContinuation<Void, Never>]?>(nil)

    /// Runs the body while no other task holds the lock.
    func withLock<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await withCheckedContinuation { acquire($0) }
        defer { release() }
        return try await body()
    }

    private func acquire(_ continuation: CheckedContinuation<Void, Never>) {
        let isFree = waiters.withLock { waiters in
            defer { waiters = (waiters ?? []) + (waiters == nil ? [] : [continuation]) }
            return waiters == nil
        }
        if isFree { continuation.resume() }
    }

    private func release() {
        let next = waiters.withLock { waiters -> CheckedContinuation<Void, Never>? in
            guard let queue = waiters, let first = queue.first else {
                waiters = nil
                return nil
            }
            waiters = Array(queue.dropFirst())
            return first
        }
        next?.resume()
    }
}

extension TweakRegistry {
    /// Runs the body with exclusive access to this registry. Within the body, the task and its children lock each other
    /// out only among themselves.
    func withExclusiveAccess<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        let key = ObjectIdentifier(self)
        // Each body gets a lock for nested calls, so that a task never waits for itself.
        var nested = RegistryLocks.ofTask
        nested[key] = AsyncLock()
        return try await (RegistryLocks.ofTask[key] ?? RegistryLocks.outermost(key)).withLock {
            try await RegistryLocks.$ofTask.withValue(nested) { try await body() }
        }
    }
}

/// Locks by registry.
private enum RegistryLocks {
    /// The locks for nested calls of the current task.
    @TaskLocal static var ofTask: [ObjectIdentifier: AsyncLock] = [:]
    // Never removed: tests share few registries, and a later registry at the same address can use the same lock.
    private static let all = Mutex<[ObjectIdentifier: AsyncLock]>([:])

    static func outermost(_ key: ObjectIdentifier) -> AsyncLock {
        all.withLock { locks in
            let lock = locks[key] ?? AsyncLock()
            locks[key] = lock
            return lock
        }
    }
}
