// Declares lists and optionals with `Tweak(…)`, `@Tweak(…)`, `register(…)` and `tweakValue(…)`.

extension Tweak where Value: TweakContainer {
    /// A list of any values, or an optional.
    ///
    /// ```swift
    /// static let hosts = Tweak("Upstream", "Calls", "Hosts", ["a.example", "b.example"], minLength: 1)
    /// ```
    /// - Parameters:
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - defaultValue: The value until it is changed; it must be valid.
    ///   - choices: The allowed elements; without it, any.
    ///   - minLength: The minimum number of values in a list.
    ///   - maxLength: The maximum number of values in a list; 1,000 by default.
    ///   - unit: The unit of its numbers: `pt`, `requests/s`.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @_disfavoredOverload
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        choices: [Value.TweakComponent]? = nil, minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, defaultValue,
            .holding(
                choices: choices, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }

    /// As a property, a list of any values, or an optional.
    ///
    /// ```swift
    /// @Tweak("Upstream", "Calls", "Hosts", minLength: 1) var hosts = ["a.example"]
    /// ```
    /// - Parameters:
    ///   - wrappedValue: The value until it is changed; it must be valid.
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - choices: The allowed elements; without it, any.
    ///   - minLength: The minimum number of values in a list.
    ///   - maxLength: The maximum number of values in a list; 1,000 by default.
    ///   - unit: The unit of its numbers: `pt`, `requests/s`.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        choices: [Value.TweakComponent]? = nil, minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .holding(
                choices: choices, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }
}

extension Tweak where Value: TweakContainer, Value.TweakComponent: TweakBounded {
    /// A list of numbers or durations within a range, or an optional one.
    ///
    /// ```swift
    /// static let delays = Tweak("Retry", "Policy", "Delays", [1, 2, 5], in: 0...60, minLength: 1, maxLength: 8)
    /// static let limit = Tweak<Int?>("Server", "Requests", "Limit", nil, in: 1...10_000)
    /// ```
    /// - Parameters:
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - defaultValue: The value until it is changed; it must be valid.
    ///   - range: The accepted elements, bounds included.
    ///   - step: The distance between values, counted from the lower bound.
    ///   - minLength: The minimum number of values in a list.
    ///   - maxLength: The maximum number of values in a list; 1,000 by default.
    ///   - unit: The unit of its numbers: `pt`, `requests/s`.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @_disfavoredOverload
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        in range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent? = nil,
        minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, defaultValue,
            .holding(
                range, step: step, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }

    /// As a property, a list of numbers or durations within a range, or an optional one.
    ///
    /// ```swift
    /// @Tweak("Retry", "Policy", "Delays", in: 0...60, maxLength: 8) var delays = [1, 2, 5]
    /// ```
    /// - Parameters:
    ///   - wrappedValue: The value until it is changed; it must be valid.
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - range: The accepted elements, bounds included.
    ///   - step: The distance between values, counted from the lower bound.
    ///   - minLength: The minimum number of values in a list.
    ///   - maxLength: The maximum number of values in a list; 1,000 by default.
    ///   - unit: The unit of its numbers: `pt`, `requests/s`.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        in range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent? = nil,
        minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .holding(
                range, step: step, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }
}

extension TweakRegistry {
    /// Registers a list of any values, or an optional, or returns the tweak with this path.
    ///
    /// The parameters are those of
    /// ``Tweak/init(_:_:_:_:choices:minLength:maxLength:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    /// - Throws: ``TweakError`` for a declaration with which `Tweak(…)` would stop the program.
    @_disfavoredOverload
    public func register<Value>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        choices: [Value.TweakComponent]? = nil, minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [],
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<Value> where Value: TweakContainer {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .holding(
                choices: choices, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }

    /// Registers a list of numbers or durations within a range, or an optional one, or returns the existing tweak.
    ///
    /// The parameters are those of
    /// ``Tweak/init(_:_:_:_:in:step:minLength:maxLength:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    /// - Throws: ``TweakError`` for a declaration with which `Tweak(…)` would stop the program.
    @_disfavoredOverload
    public func register<Value>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        in range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent? = nil,
        minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [],
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<Value> where Value: TweakContainer, Value.TweakComponent: TweakBounded {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .holding(
                range, step: step, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }
}

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// A list of any values, or an optional. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:minLength:maxLength:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakValue<Value>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: [Value.TweakComponent]? = nil, minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil,
    policy: TweakPolicy = .reject, help: String? = nil,
    formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
) -> Value where Value: TweakContainer {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .holding(
                choices: choices, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)), $1)
    }
}

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// A list of numbers or durations within a range, or an optional one. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:minLength:maxLength:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakValue<Value>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    in range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent? = nil,
    minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil,
    formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
) -> Value where Value: TweakContainer, Value.TweakComponent: TweakBounded {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .holding(
                range, step: step, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)), $1)
    }
}
