// Runs an action once per call, and stops waiting for it at its time limit.

import Synchronization

/// The body of an action, and whether it is running.
final class ActionRunner: Sendable {
    typealias Body = @isolated(any) (TweakArguments) async throws -> String

    // Safe: the body was passed as `sending`, so only this object can call it, on the body's own actor.
    nonisolated(unsafe) private let body: Body
    /// The declared arguments; nil: any.
    let signature: ActionSignature?
    private let timeLimit: Duration
    private let concurrently: Bool
    private let running = Atomic<Int>(0)

    init(
        _ signature: ActionSignature? = nil, timeLimit: Duration, concurrently: Bool, body: sending @escaping Body
    ) {
        self.signature = signature
        self.timeLimit = timeLimit
        self.concurrently = concurrently
        self.body = body
    }

    /// Runs the body and waits for it, at most for the time limit. Canceling the caller cancels the body; its result is
    /// still awaited.
    /// - Parameter executor: Runs the body and the timer; nil for the default executor.
    func run(
        _ arguments: TweakArguments, path: TweakPath, on executor: (any TaskExecutor)? = nil
    ) async throws(TweakError) -> String {
        guard claim() else {
            throw TweakError(.busy, "\(path.token) is still running; try again when it has ended", path: path)
        }
        let outcome = FirstResult()
        let work = Task(executorPreference: executor) { [self] in
            let result = await callBody(arguments, path)
            running.store(0, ordering: .releasing)
            outcome.resolve(result)
        }
        let timer = Task(executorPreference: executor) { [timeLimit] in
            guard (try? await Task.sleep(for: timeLimit)) != nil else { return }
            if outcome.resolve(.failure(Self.timeout(timeLimit, path))) { work.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await outcome.result
        } onCancel: {
            work.cancel()
        }
        timer.cancel()
        return try result.get()
    }

    private func claim() -> Bool {
        if concurrently { return true }
        return running.compareExchange(expected: 0, desired: 1, ordering: .acquiringAndReleasing).exchanged
    }

    private func callBody(_ arguments: TweakArguments, _ path: TweakPath) async -> Result<String, TweakError> {
        do {
            return .success(try await body(arguments))
        } catch let error as TweakError {
            return .failure(error)
        } catch {
            return .failure(TweakError(.actionFailed, "\(path.token): \(error)", path: path))
        }
    }

    private static func timeout(_ limit: Duration, _ path: TweakPath) -> TweakError {
        let text = DurationText.print(limit.exactNanoseconds ?? .max)
        return TweakError(
            .timeout, "\(path.token) took longer than \(text); it is canceled, and busy until it ends", path: path)
    }
}

/// A result that the body or the timer sets once; the first one counts.
private final class FirstResult: Sendable {
    typealias Outcome = Result<String, TweakError>

    private struct State {
        var result: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let state = Mutex(State())

    /// Sets the result; false if there already is one.
    @discardableResult
    func resolve(_ result: Outcome) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            if state.result != nil { return (false, nil as CheckedContinuation<Outcome, Never>?) }
            state.result = result
            return (true, state.continuation.take())
        }
        continuation?.resume(returning: result)
        return isFirst
    }

    /// Waits for the result; only one caller may wait.
    var result: Outcome {
        get async {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.continuation = continuation }
                    return state.result
                }
                if let result { continuation.resume(returning: result) }
            }
        }
    }
}
