// Sets tweaks for the duration of a closure.

public import Tweaks

/// Sets a tweak for the duration of a closure, then restores its overrides.
///
/// ```swift
/// @Test func growsWithItsText() async throws {
///     try await withTweak(Look.size, 80) { #expect(Label().height == 96) }
/// }
/// ```
/// A second call for the same registry waits until the first has ended; calls within the closure can be nested. A
/// commit of the program restores override and temporary override. The closure may be synchronous; a synchronous test
/// uses the trait `.tweak(…)`, since waiting must not block a thread.
/// - Throws: `TweakError` where the value is invalid, and the errors of `body`.
@discardableResult
public func withTweak<Value, Result>(
    _ tweak: Tweak<Value>, _ value: Value, _ body: () async throws -> Result
) async throws -> Result {
    try await withTweaks(of: tweak.erased.registry, { $0.set(tweak, value) }, perform: body)
}

/// Sets a group for the duration of a closure, then restores the overrides of its parts; see
/// ``withTweak(_:_:_:)-(Tweak<Value>,_,_)``.
@discardableResult
public func withTweak<Template, Result>(
    _ group: TweakGroup<Template>, _ value: Template, _ body: () async throws -> Result
) async throws -> Result {
    try await withTweaks(of: group.parts[0].registry, { $0.set(group, value) }, perform: body)
}

/// Changes several tweaks for the duration of a closure, in one commit, then restores their overrides.
///
/// ```swift
/// try await withTweaks {
///     $0.reset(matching: "*")
///     $0.set(Look.size, 80)
/// } perform: {
///     …
/// }
/// ```
/// - Parameters:
///   - registry: The registry of the tweaks.
///   - changes: Fills the batch; only the tweaks that it names are restored.
///   - body: Runs with the changes in effect; see ``withTweak(_:_:_:)-(Tweak<Value>,_,_)``.
/// - Throws: `TweakError` where a change is invalid, and the errors of `body`.
@discardableResult
public func withTweaks<Result>(
    of registry: TweakRegistry = .shared, _ changes: (inout TweakBatch) -> Void,
    perform body: () async throws -> Result
) async throws -> Result {
    try await registry.withExclusiveAccess {
        let undo = try registry.commitReversibly(changes)
        defer { undo() }
        return try await body()
    }
}
