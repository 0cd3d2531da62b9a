// The handle of several tweaks that are declared, read and set as one value.

/// Several tweaks that are declared at once and used as one value, by a ``TweakTemplate``.
///
/// ```swift
/// enum Upstream {
///     static let retry = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 5))
/// }
/// let policy = Upstream.retry.value
/// for attempt in 1...policy.attempts {
///     try await Task.sleep(for: policy.delay(beforeAttempt: attempt))
///     …
/// }
/// ```
///
/// Each part is a tweak of its own, `Upstream/Payments/Attempts`, `Upstream/Payments/Base delay` and so on: people list,
/// set and watch them one by one, or in a batch. The program sees them together: a read has all parts as they were
/// at one moment, and a commit that changes several of them runs each observer once.
///
/// With a third name, several groups share a collection, and the parts have it in front:
/// `TweakGroup("Label", "Text", "Shadow", TweakShadow())` declares `Label/Text/Shadow radius` and its like.
@propertyWrapper
public struct TweakGroup<Template: TweakTemplate>: Sendable {
    @usableFromInline let core: GroupCore<Template>

    /// A group that has a collection to itself.
    /// - Parameters:
    ///   - category: The first part of the paths.
    ///   - collection: The second part.
    ///   - defaultValue: What the parts have as their defaults.
    ///   - registry: Where the parts are registered; nil is ``TweakRegistry/shared``.
    ///   - fileID: Where it is declared; leave it out.
    ///   - line: Where it is declared; leave it out.
    public init(
        _ category: String, _ collection: String, _ defaultValue: Template, registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            wrappedValue: defaultValue, category, collection, nil, registry: registry, fileID: fileID, line: line)
    }

    /// A group whose parts' names begin with a name of its own.
    /// - Parameters:
    ///   - category: The first part of the paths.
    ///   - collection: The second part.
    ///   - name: What the parts' names begin with.
    ///   - defaultValue: What the parts have as their defaults.
    ///   - registry: Where the parts are registered; nil is ``TweakRegistry/shared``.
    ///   - fileID: Where it is declared; leave it out.
    ///   - line: Where it is declared; leave it out.
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Template,
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            wrappedValue: defaultValue, category, collection, name, registry: registry, fileID: fileID, line: line)
    }

    /// As a property: the wrapped value is the value, `$retry` is the group.
    /// - Parameters:
    ///   - wrappedValue: What the parts have as their defaults.
    ///   - category: The first part of the paths.
    ///   - collection: The second part.
    ///   - name: What the parts' names begin with; nil for a group that has the collection to itself.
    ///   - registry: Where the parts are registered; nil is ``TweakRegistry/shared``.
    ///   - fileID: Where it is declared; leave it out.
    ///   - line: Where it is declared; leave it out.
    public init(
        wrappedValue: Template, _ category: String, _ collection: String, _ name: String? = nil,
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        let place = GroupPlace(
            category: category, collection: collection, prefix: name, registry: registry,
            source: TweakSource(fileID: fileID, line: line))
        core = GroupCore(wrappedValue, place)
    }

    /// The current value: all parts as they were at one moment. A read takes one short lock of the group's own.
    ///
    /// Setting it sets the overrides of all parts in one commit, as code: each is clamped to its range. What cannot be
    /// mended that way changes nothing; use ``set(_:)`` to be told.
    @inlinable
    public var value: Template {
        get { core.load() }
        nonmutating set { assign(newValue) }
    }

    /// The same as ``value``.
    @inlinable
    public var wrappedValue: Template {
        get { core.load() }
        nonmutating set { assign(newValue) }
    }

    /// The group itself.
    public var projectedValue: TweakGroup<Template> { self }

    /// What the code says.
    public var defaultValue: Template { core.defaultValue }

    /// The parts' tweaks, in the order of the template.
    public var parts: [AnyTweak] { core.parts.map { $0.erased() } }

    /// Whether the current value of a part differs from its default.
    public var isModified: Bool { parts.contains { $0.isModified } }

    /// Sets the overrides of all parts in one commit, as code.
    /// - Returns: What happened to each part.
    /// - Throws: ``TweakError`` for the first part whose value is refused. Then nothing has changed.
    @discardableResult
    public func set(_ value: Template) throws(TweakError) -> TweakCommitResult {
        try commit { $0.set(self, value) }
    }

    /// Removes the overrides of all parts in one commit: what lies beneath shows again.
    /// - Returns: What happened; nil when a part was removed, or the process is frozen.
    @discardableResult
    public func reset() -> TweakCommitResult? {
        try? commit { $0.reset(self) }
    }

    @usableFromInline
    func assign(_ value: Template) {
        // The setter promises silence; `set` is the one that tells.
        _ = try? commit(policy: .snap) { $0.set(self, value) }
    }

    private func commit(
        policy: TweakPolicy? = nil, _ change: (inout TweakBatch) -> Void
    ) throws(TweakError) -> TweakCommitResult {
        if FrozenTrait.isOn { throw TweakError(.readOnly, FrozenTrait.reason) }
        var batch = TweakBatch()
        change(&batch)
        return try core.registry.commit(batch, origin: .code, policy: policy, delivery: .caller)
    }
}

extension TweakGroup: TweakHandle {
    /// Category, collection and name of the first part; ``parts`` has them all.
    public var path: TweakPath { parts[0].path }

    /// The same as ``parts``.
    public var tweaks: [AnyTweak] { parts }
}
