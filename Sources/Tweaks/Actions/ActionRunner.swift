// Runs an action: once for each call, never longer waited for than its limit.

import Synchronization

/// The body of an action, and whether it is running.
final class ActionRunner: Sendable {
    typealias Body = @isolated(any) (TweakArguments) async throws -> String

    // The body was handed over by `sending`: nobody else can call it, and it is isolated to its own actor.
    nonisolated(unsafe) private let body: Body
    /// What it takes; nil: anything.
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

    /// Runs the body and waits for it, at most for the time limit. When the caller is cancelled, so is the body; its answer
    /// is waited for.
    /// - Parameter executor: Where body and clock run; nil for the tasks' usual place.
    func run(
        _ arguments: TweakArguments, path: TweakPath, on executor: (any TaskExecutor)? = nil
    ) async throws(TweakError) -> String {
        guard claim() else {
            throw TweakError(.busy, "\(path.token) is still running; try again when it has ended", path: path)
        }
        let verdict = Verdict()
        let work = Task(executorPreference: executor) { [self] in
            let result = await answer(arguments, path)
            running.store(0, ordering: .releasing)
            verdict.give(result)
        }
        let clock = Task(executorPreference: executor) { [timeLimit] in
            guard (try? await Task.sleep(for: timeLimit)) != nil else { return }
            if verdict.give(.failure(Self.timeout(timeLimit, path))) { work.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await verdict.result
        } onCancel: {
            work.cancel()
        }
        clock.cancel()
        return try result.get()
    }

    private func claim() -> Bool {
        if concurrently { return true }
        return running.compareExchange(expected: 0, desired: 1, ordering: .acquiringAndReleasing).exchanged
    }

    private func answer(_ arguments: TweakArguments, _ path: TweakPath) async -> Result<String, TweakError> {
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
            .timeout, "\(path.token) took longer than \(text); it is cancelled, and busy until it ends", path: path)
    }
}

/// A result that can be given once: by the body or the clock, whichever is first.
private final class Verdict: Sendable {
    typealias Given = Result<String, TweakError>

    private struct State {
        var given: Given?
        var continuation: CheckedContinuation<Given, Never>?
    }

    private let state = Mutex(State())

    /// True for the first result, which is the one that counts.
    @discardableResult
    func give(_ result: Given) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            if state.given != nil { return (false, nil as CheckedContinuation<Given, Never>?) }
            state.given = result
            return (true, state.continuation.take())
        }
        continuation?.resume(returning: result)
        return isFirst
    }

    /// Waits for it; for one caller.
    var result: Given {
        get async {
            await withCheckedContinuation { continuation in
                let given = state.withLock { state in
                    if state.given == nil { state.continuation = continuation }
                    return state.given
                }
                if let given { continuation.resume(returning: given) }
            }
        }
    }
}
