// Values for the length of a closure.

public import Tweaks

/// Gives a tweak a value for the length of a closure, then puts back what was set before.
///
/// ```swift
/// @Test func growsWithItsText() async throws {
///     try await withTweak(Look.size, 80) { #expect(Label().height == 96) }
/// }
/// ```
/// A second call for the same registry waits until the first has ended; within the closure it can be done again. Override and
/// temporary override are put back, by a commit of the program's own. The closure may be synchronous; a test that is so
/// itself takes the trait `.tweak(…)`, since waiting must not keep a thread.
/// - Throws: `TweakError` where the value is refused, and what `body` throws.
@discardableResult
public func withTweak<Value, Result>(
    _ tweak: Tweak<Value>, _ value: Value, _ body: () async throws -> Result
) async throws -> Result {
    try await withTweaks(of: tweak.erased.registry, { $0.set(tweak, value) }, perform: body)
}

/// Gives a group a value for the length of a closure, then puts back what was set of its parts before; see
/// ``withTweak(_:_:_:)-(Tweak<Value>,_,_)``.
@discardableResult
public func withTweak<Template, Result>(
    _ group: TweakGroup<Template>, _ value: Template, _ body: () async throws -> Result
) async throws -> Result {
    try await withTweaks(of: group.parts[0].registry, { $0.set(group, value) }, perform: body)
}

/// Changes several tweaks for the length of a closure, in one commit, then puts back what was set of them before.
///
/// ```swift
/// try await withTweaks {
///     $0.reset("*")
///     $0.set(Look.size, 80)
/// } perform: {
///     …
/// }
/// ```
/// - Parameters:
///   - registry: Whose tweaks they are.
///   - changes: Fills the batch; what it names is put back, and nothing else.
///   - body: Sees the changes; see ``withTweak(_:_:_:)-(Tweak<Value>,_,_)``.
/// - Throws: `TweakError` where a change is refused, and what `body` throws.
@discardableResult
public func withTweaks<Result>(
    of registry: TweakRegistry = .shared, _ changes: (inout TweakBatch) -> Void,
    perform body: () async throws -> Result
) async throws -> Result {
    try await registry.takeTurn {
        let undo = try registry.commitReversibly(changes)
        defer { undo() }
        return try await body()
    }
}
