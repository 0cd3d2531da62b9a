// Registers actions: closures that clients run by name.

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
