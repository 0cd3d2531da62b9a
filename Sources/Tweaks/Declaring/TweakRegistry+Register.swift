// Registers tweaks with paths and ranges that are known only at run time; invalid declarations throw.

extension TweakRegistry {
    /// Registers a tweak of any kind, or returns the one with this path; with `choices`, one of those values.
    ///
    /// ```swift
    /// let size = try registry.register(plugin.name, "Text", "Size", 12.0, in: 4...96)
    /// ```
    /// It may be called on any thread, and as often as needed: the first declaration of a path applies, and another
    /// default or range is listed in ``TweakRegistry/conflicts``.
    ///
    /// The parameters are those of
    /// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    /// - Throws: ``TweakError`` for a declaration with which `Tweak(…)` would stop the program: `usage` for an invalid name,
    ///   range, step or list, `out-of-range` or `not-a-choice` for a default outside of them, `conflict` for the path of a
    ///   tweak of another type or of an action.
    public func register<Value: TweakConvertible>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, choices: [Value]? = nil,
        maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil, step: Value? = nil,
        unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [], fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<Value> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .plain(
                choices: choices, maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
                help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Registers a number or duration within a range, `0...10`, `0...` or `...10`, or returns the tweak with this path.
    ///
    /// The parameters are those of
    /// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    /// - Throws: ``TweakError`` for a declaration with which `Tweak(…)` would stop the program.
    public func register<Value: TweakBounded>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        in range: some TweakBounds<Value>, step: Value? = nil, scale: TweakScale? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<Value> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .range(
                range, step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
                flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Registers one of several values, each with a display label, or returns the tweak with this path.
    ///
    /// The parameters are those of
    /// ``Tweak/init(_:_:_:_:choices:unit:help:formerly:flags:registry:fileID:line:)``.
    /// - Throws: ``TweakError`` for a declaration with which `Tweak(…)` would stop the program.
    public func register<Value: TweakConvertible>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [], fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<Value> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .labeled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Registers a list of any values, or an optional, or returns the tweak with this path.
    ///
    /// The parameters are those of
    /// ``Tweak/init(_:_:_:_:choices:minLength:maxLength:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    /// - Throws: ``TweakError`` for a declaration with which `Tweak(…)` would stop the program.
    @_disfavoredOverload
    public func register<Value>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        choices: [Value.TweakComponent]? = nil, minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
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
        in range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent? = nil, minLength: Int? = nil,
        maxLength: Int? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<Value> where Value: TweakContainer, Value.TweakComponent: TweakBounded {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .holding(
                range, step: step, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }
}
