// Something that people can run by name.

/// A registered action.
public struct TweakAction: Sendable {
    let node: TweakNode
    let registry: TweakRegistry

    /// Category, collection and name.
    public var path: TweakPath { node.path }

    /// Runs it once and returns its text.
    ///
    /// Cancelling the task that waits for it cancels the action's, too; what that makes of it is the answer.
    /// - Throws: ``TweakError``: `unknown-tweak` when it was removed, what its arguments are refused with, `busy`,
    ///   `timeout`, or `action-failed` with the text of what it threw.
    public func run(_ arguments: [String] = []) async throws(TweakError) -> String {
        try await AnyTweak(node: node, registry: registry).run(arguments)
    }
}

/// Registers an action: FBTweakAction.
///
/// It runs in a task, on the actor that the closure belongs to; never on a thread of the server's. One call
/// runs it once. It is not run again before it has ended (`busy`), unless `concurrently` is true. After `timeLimit`
/// its caller is answered `timeout` and its task is cancelled; it stays `busy` until it really ends. It is cancelled as
/// well when the server stops over which it was called.
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
///   - arguments: What it takes, in order: checked before it runs, shown to people, completed; nil: any texts.
///   - help: What it does, in a line.
///   - flags: `.needsRestart` and `.secret` are shown in listings; an action is run in any case.
///   - timeLimit: How long a caller waits before it is answered `timeout`.
///   - concurrently: Whether several runs may overlap; else the second caller is answered `busy`.
///   - registry: Where it is registered; ``TweakRegistry/shared`` unless it is named.
///   - fileID: Where it is declared; leave it out.
///   - line: Where it is declared; leave it out.
///   - body: Takes the arguments, returns text for the caller (lines are kept); what it throws is shown.
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
