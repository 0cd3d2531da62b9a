// Registration that throws, for paths and ranges that are not known when the program is written.

extension TweakRegistry {
    /// Registers a tweak, or finds the one with this path. A tweak of any kind; with `choices`, one of those values.
    ///
    /// ```swift
    /// let size = try registry.register(plugin.name, "Text", "Size", 12.0, in: 4...96)
    /// ```
    /// - Throws: ``TweakError`` where `Tweak(…)` would stop the program.
    public func register<Value: TweakConvertible>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, choices: [Value] = [],
        unit: String? = nil, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(TweakError) -> Tweak<Value> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .plain(choices: choices, unit: unit, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Registers a tweak, or finds the one with this path. A number within a range: `0...10`, `0...` or `...10`.
    /// - Throws: ``TweakError`` where `Tweak(…)` would stop the program.
    public func register<Value: TweakBounded>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        in range: some TweakBounds<Value>, step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(TweakError) -> Tweak<Value> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Registers a tweak, or finds the one with this path. One of several values, each with a label for people.
    /// - Throws: ``TweakError`` where `Tweak(…)` would stop the program.
    public func register<Value: TweakConvertible>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [],
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<Value> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .labelled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Registers a tweak, or finds the one with this path. Text that the program checks: `validate` says why one is refused, or nil.
    /// - Throws: ``TweakError`` where `Tweak(…)` would stop the program.
    public func register(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: String, maxLength: Int? = nil,
        validate: @escaping @Sendable (String) -> String?, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [],
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<String> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .text(maxLength: maxLength, validate: validate, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Registers a tweak, or finds the one with this path. Text of limited length, counted in characters.
    /// - Throws: ``TweakError`` where `Tweak(…)` would stop the program.
    public func register(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: String, maxLength: Int,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(TweakError) -> Tweak<String> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .text(maxLength: maxLength, validate: nil, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }
}
