// Registers actions, closures that clients run by name, and runs them within a time limit.

import Synchronization

/// A registered action.
public struct TweakAction: Sendable {
    let node: TweakNode
    let registry: TweakRegistry

    /// Category, collection and name.
    public var path: TweakPath { node.path }

    /// Runs it once and returns its text.
    ///
    /// Canceling the calling task cancels the action's task, too; the action's result is returned.
    /// - Throws: ``TweakError``: `unknown-tweak` when it was removed, the error of an invalid argument, `busy`,
    ///   `timeout`, or `action-failed` with the text of the error that it threw.
    public func run(_ arguments: [String] = []) async throws(TweakError) -> String {
        try await AnyTweak(node: node, registry: registry).run(arguments)
    }
}

/// Registers an action, like FBTweakAction.
///
/// It runs in a task, on the closure's actor, never on a server thread. Each call runs it once. A call while it runs
/// gets the error `busy`, unless `concurrently` is true. After `timeLimit` the caller gets `timeout` and the task is
/// canceled; the action stays `busy` until it ends. It is also canceled when the server that received the call stops.
///
/// ```swift
/// tweakAction("Player", "Audio", "Mute") { arguments in
///     player.mute()
///     return "muted"
/// }
/// ```
/// - Parameters:
///   - category: The first part of its path.
///   - collection: The second part.
///   - name: The third part.
///   - arguments: The arguments, in order: validated before it runs, listed and completed; nil: any texts.
///   - help: One line that describes the action.
///   - flags: `.needsRestart` and `.secret` are only shown in listings.
///   - timeLimit: The time that a caller waits before it gets `timeout`.
///   - concurrently: Whether runs may overlap; otherwise the second caller gets `busy`.
///   - registry: The registry; by default ``TweakRegistry/shared``.
///   - fileID: Where it is declared; leave it out.
///   - line: Where it is declared; leave it out.
///   - body: Receives the arguments and returns text for the caller, which may have several lines; the caller also gets
///     the text of an error that it throws.
@discardableResult
public func tweakAction(
    _ category: String, _ collection: String, _ name: String, arguments: [TweakParameter]? = nil,
    help: String? = nil, flags: TweakFlags = [], timeLimit: Duration = .seconds(30), concurrently: Bool = false,
    registry: TweakRegistry = .shared, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ body: sending @escaping @isolated(any) (TweakArguments) async throws -> String
) -> TweakAction {
    let source = TweakSource(fileID: fileID, line: line)
    do {
        let path = try TweakPath(category, collection, name)
        let signature = try arguments.map { arguments throws(TweakError) in try ActionSignature(arguments, path) }
        let runner = ActionRunner(signature, timeLimit: timeLimit, concurrently: concurrently, body: body)
        let node = try registry.declare(path, runner, help: help, flags: flags, source)
        return TweakAction(node: node, registry: registry)
    } catch {
        fatalError("Tweaks: \(source): \(error)")
    }
}

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
