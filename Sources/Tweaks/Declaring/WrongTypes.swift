// Declares overloads that never compile: they carry the message for a declaration whose type does not fit.
//
// The type checker tries an unavailable overload only after all others have failed, so that declarations that compile
// take no longer; `.ci/typecheck.sh` counts that, and checks the messages. No code is emitted for them.

/// The type that the messages of the compiler show for a tweak that cannot exist.
///
/// Its parameter's default, not a constraint, makes it the type of the tweak: where the program names the type, as in
/// `let size: Tweak<Double> = Tweak("Content", "Text", "Size", "big")`, the compiler compares that with the default.
public enum TweakOfUnknownType: TweakStorable {
    /// Nothing converts to it.
    public static func tweakTyped(_ value: TweakValue) -> Self? { nil }
    /// It has no values.
    public var tweakErased: TweakValue { .bool(false) }
    /// Never evaluated.
    @_alwaysEmitIntoClient
    public static var value: Self { fatalError("unavailable") }
}

extension Tweak {
    /// Does not compile: no tweak can hold a default of this type.
    @available(
        *, unavailable,
        message: """
            the type of the default must conform to TweakConvertible: `enum Side: String, CaseIterable, \
            TweakConvertible`; URL, Date, UUID, CGFloat and others do after `import TweaksFoundation`
            """
    )
    @_disfavoredOverload
    @_alwaysEmitIntoClient
    public init<Other>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Other, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        unknown: Value = TweakOfUnknownType.value
    ) { fatalError("unavailable") }

    /// Does not compile: values of this type have no range.
    @available(
        *, unavailable,
        message: """
            a range is for integers, floating-point numbers and durations: types that conform to TweakBounded; \
            CGFloat does after `import TweaksFoundation`
            """
    )
    @_disfavoredOverload
    @_alwaysEmitIntoClient
    public init<Other: Comparable>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Other,
        in range: some TweakBounds<Other>, step: Other? = nil, scale: TweakScale? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        unknown: Value = TweakOfUnknownType.value
    ) { fatalError("unavailable") }

    /// Does not compile: no tweak can hold a default of this type.
    @available(
        *, unavailable,
        message: """
            the type of the property must conform to TweakConvertible: `enum Side: String, CaseIterable, \
            TweakConvertible`; URL, Date, UUID, CGFloat and others do after `import TweaksFoundation`
            """
    )
    @_disfavoredOverload
    @_alwaysEmitIntoClient
    public init<Other>(
        wrappedValue: Other, _ category: String, _ collection: String, _ name: String, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        unknown: Value = TweakOfUnknownType.value
    ) { fatalError("unavailable") }

    /// Does not compile: values of this type have no range.
    @available(
        *, unavailable,
        message: """
            a range is for integers, floating-point numbers and durations: types that conform to TweakBounded; \
            CGFloat does after `import TweaksFoundation`
            """
    )
    @_disfavoredOverload
    @_alwaysEmitIntoClient
    public init<Other: Comparable>(
        wrappedValue: Other, _ category: String, _ collection: String, _ name: String,
        in range: some TweakBounds<Other>, step: Other? = nil, scale: TweakScale? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line, unknown: Value = TweakOfUnknownType.value
    ) { fatalError("unavailable") }
}

extension TweakRegistry {
    /// Does not compile: no tweak can hold a default of this type.
    @available(
        *, unavailable,
        message: """
            the type of the default must conform to TweakConvertible: `enum Side: String, CaseIterable, \
            TweakConvertible`; URL, Date, UUID, CGFloat and others do after `import TweaksFoundation`
            """
    )
    @_disfavoredOverload
    @_alwaysEmitIntoClient
    public func register<Other>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Other, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<TweakOfUnknownType> { fatalError("unavailable") }
}

/// Does not compile: no tweak can hold a default of this type.
@available(
    *, unavailable,
    message: """
        the type of the default must conform to TweakConvertible: `enum Side: String, CaseIterable, \
        TweakConvertible`; URL, Date, UUID, CGFloat and others do after `import TweaksFoundation`
        """
)
@_disfavoredOverload
@_alwaysEmitIntoClient
public func tweakValue<Other>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Other,
    unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Other { fatalError("unavailable") }

/// Does not compile: an action returns a text for its caller.
@available(*, unavailable, message: "the block must return a text for the caller; add `return \"done\"`")
@_disfavoredOverload
@_alwaysEmitIntoClient
@discardableResult
public func tweakAction(
    _ category: String, _ collection: String, _ name: String, arguments: [TweakParameter]? = nil,
    help: String? = nil, flags: TweakFlags = [], timeLimit: Duration = .seconds(30), concurrently: Bool = false,
    registry: TweakRegistry = .shared, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ body: sending @escaping @isolated(any) (TweakArguments) async throws -> Void
) -> TweakAction { fatalError("unavailable") }

/// Does not compile: the block of an action receives its arguments.
@available(
    *, unavailable,
    message: "the block must receive the arguments and return a text for the caller: `{ _ in …; return \"done\" }`"
)
@_disfavoredOverload
@_alwaysEmitIntoClient
@discardableResult
public func tweakAction<Result>(
    _ category: String, _ collection: String, _ name: String, arguments: [TweakParameter]? = nil,
    help: String? = nil, flags: TweakFlags = [], timeLimit: Duration = .seconds(30), concurrently: Bool = false,
    registry: TweakRegistry = .shared, fileID: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext _ body: sending @escaping @isolated(any) () async throws -> Result
) -> TweakAction { fatalError("unavailable") }
