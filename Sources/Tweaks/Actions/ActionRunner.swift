// Runs an action: once for each call, never longer waited for than its limit.

import Synchronization

/// The body of an action, and whether it is running.
final class ActionRunner: Sendable {
    typealias Body = @isolated(any) (TweakArguments) async throws -> String

    // The body was handed over by `sending`: nobody else can call it, and it is isolated to its own actor.
    nonisolated(unsafe) private let body: Body
    private let timeLimit: Duration
    private let concurrently: Bool
    private let running = Atomic<Int>(0)

    init(timeLimit: Duration, concurrently: Bool, body: sending @escaping Body) {
        self.timeLimit = timeLimit
        self.concurrently = concurrently
        self.body = body
    }

    /// Runs the body and waits for it, at most for the time limit.
    /// - Parameter executor: Where body and clock run; nil for the tasks' usual place.
    func run(
        _ arguments: TweakArguments, path: TweakPath, on executor: (any TaskExecutor)? = nil
    ) async throws(TweakError) -> String {
        guard claim() else {
            throw TweakError(.busy, "\(path.token) is still running; try again when it has ended", path: path)
        }
        let result = await withCheckedContinuation { continuation in
            race(arguments, path, Verdict(continuation), executor)
        }
        return try result.get()
    }

    private func claim() -> Bool {
        if concurrently { return true }
        return running.compareExchange(expected: 0, desired: 1, ordering: .acquiringAndReleasing).exchanged
    }

    /// The body against the clock; the first to finish gives the verdict.
    private func race(
        _ arguments: TweakArguments, _ path: TweakPath, _ verdict: Verdict, _ executor: (any TaskExecutor)?
    ) {
        let work = Task(executorPreference: executor) { [self] in
            let result: Result<String, TweakError>
            do {
                result = .success(try await body(arguments))
            } catch let error as TweakError {
                result = .failure(error)
            } catch {
                result = .failure(TweakError(.actionFailed, "\(path.token): \(error)", path: path))
            }
            running.store(0, ordering: .releasing)
            verdict.give(result)
        }
        let limit = timeLimit
        let clock = Task(executorPreference: executor) {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            let text = DurationText.print(limit.exactNanoseconds ?? .max)
            let error = TweakError(
                .timeout, "\(path.token) took longer than \(text); it is cancelled, and busy until it ends", path: path)
            if verdict.give(.failure(error)) { work.cancel() }
        }
        verdict.onGiven { clock.cancel() }
    }
}

/// A result that can be given once.
private final class Verdict: Sendable {
    struct State {
        var continuation: CheckedContinuation<Result<String, TweakError>, Never>?
        var cleanUp: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    init(_ continuation: CheckedContinuation<Result<String, TweakError>, Never>) {
        state = Mutex(State(continuation: continuation))
    }

    /// True for the first result, which is the one that counts.
    @discardableResult
    func give(_ result: Result<String, TweakError>) -> Bool {
        let (continuation, cleanUp) = state.withLock { state in
            defer { (state.continuation, state.cleanUp) = (nil, nil) }
            return (state.continuation, state.cleanUp)
        }
        continuation?.resume(returning: result)
        cleanUp?()
        return continuation != nil
    }

    /// Runs when the verdict is given; at once if it is already.
    func onGiven(_ cleanUp: @escaping @Sendable () -> Void) {
        let isGiven = state.withLock { state in
            if state.continuation == nil { return true }
            state.cleanUp = cleanUp
            return false
        }
        if isGiven { cleanUp() }
    }
}
