// Something that people can run by name.

/// The arguments of an action, as they were typed, without quotes.
public struct TweakArguments: RandomAccessCollection, Sendable {
    private let texts: [String]

    /// Arguments from texts.
    public init(_ texts: [String]) { self.texts = texts }

    /// 0.
    public var startIndex: Int { 0 }
    /// How many there are.
    public var endIndex: Int { texts.count }
    /// The argument at a place, which must exist; `first` and `dropFirst` are kinder.
    public subscript(position: Int) -> String { texts[position] }
}

/// A registered action.
public struct TweakAction: Sendable {
    let node: TweakNode
    let registry: TweakRegistry

    /// Category, collection and name.
    public var path: TweakPath { node.path }

    /// Runs it once and returns its text.
    /// - Throws: ``TweakError``: `busy`, `timeout`, or `action-failed` with the text of what it threw.
    public func run(_ arguments: [String] = []) async throws(TweakError) -> String {
        try await AnyTweak(node: node, registry: registry).run(arguments)
    }
}

/// Registers an action: FBTweakAction.
///
/// It runs in a task, on the actor that the closure belongs to; never on the server's or the delivery thread. One call
/// runs it once. It is not run again before it has ended (`busy`), unless `concurrently` is true. After `timeLimit`
/// its caller is answered `timeout` and its task is cancelled; it stays `busy` until it really ends.
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
///   - help: What it does, in a line.
///   - flags: Marks to show.
///   - timeLimit: How long a caller waits.
///   - concurrently: Whether several runs may overlap.
///   - registry: Where it is registered.
///   - fileID: Where it is declared; leave it out.
///   - line: Where it is declared; leave it out.
///   - body: Takes the arguments, returns text for the caller (lines are kept); what it throws is shown.
@discardableResult
public func tweakAction(
    _ category: String, _ collection: String, _ name: String, help: String? = nil, flags: TweakFlags = [],
    timeLimit: Duration = .seconds(30), concurrently: Bool = false, registry: TweakRegistry = .shared,
    fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ body: sending @escaping @isolated(any) (TweakArguments) async throws -> String
) -> TweakAction {
    let source = TweakSource(fileID: fileID, line: line)
    let runner = ActionRunner(timeLimit: timeLimit, concurrently: concurrently, body: body)
    do {
        let path = try TweakPath(category, collection, name)
        let node = try registry.declare(path, runner, help: help, flags: flags, source)
        return TweakAction(node: node, registry: registry)
    } catch {
        fatalError("Tweaks: \(source): \(error)")
    }
}
