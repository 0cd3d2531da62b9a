// The forms of `Tweak(…)`: plain, with a range, with choices, with a check.
//
// A declaration that cannot be right (a default outside its own range, a path of another type) stops the program with
// an explanation; ``TweakRegistry/register(_:_:_:_:choices:unit:help:formerly:flags:fileID:line:)`` and its siblings throw.
//
// `registry: nil` is the shared one. Everything is in line and no default is a call, so that with the trait `Frozen` a
// `static let` is a constant of the program's image.

extension Tweak {
    /// A tweak of any kind; with `choices`, one of those values.
    @inlinable
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, choices: [Value]? = nil,
        unit: String? = nil, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, defaultValue,
            .plain(choices: choices, unit: unit, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// A number within a range: `0...10`, `0...` or `...10`.
    @inlinable
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        in range: some TweakBounds<Value>, step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) where Value: TweakBounded {
        self = registry.declared(
            category, collection, name, defaultValue,
            .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// A duration within a range.
    @inlinable
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Duration,
        in range: some TweakBounds<Duration>, step: Duration? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == Duration {
        self = registry.declared(
            category, collection, name, defaultValue,
            .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// One of several values, each with a label for people.
    @inlinable
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, defaultValue,
            .labelled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Text that the program checks: `validate` says why one is refused, or nil.
    @inlinable
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: String, maxLength: Int? = nil,
        validate: @escaping @Sendable (String) -> String?, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == String {
        self = registry.declared(
            category, collection, name, defaultValue,
            .text(maxLength: maxLength, validate: validate, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Text of limited length, counted in characters.
    @inlinable
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: String, maxLength: Int,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == String {
        self = registry.declared(
            category, collection, name, defaultValue,
            .text(maxLength: maxLength, validate: nil, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }
}

// MARK: - As property wrappers

extension Tweak {
    /// A tweak of any kind; with `choices`, one of those values.
    @inlinable
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String, choices: [Value]? = nil,
        unit: String? = nil, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .plain(choices: choices, unit: unit, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// A number within a range: `0...10`, `0...` or `...10`.
    @inlinable
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        in range: some TweakBounds<Value>, step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) where Value: TweakBounded {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// One of several values, each with a label for people.
    @inlinable
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .labelled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Text that the program checks: `validate` says why one is refused, or nil.
    @inlinable
    public init(
        wrappedValue: String, _ category: String, _ collection: String, _ name: String, maxLength: Int? = nil,
        validate: @escaping @Sendable (String) -> String?, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == String {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .text(maxLength: maxLength, validate: validate, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// Text of limited length, counted in characters.
    @inlinable
    public init(
        wrappedValue: String, _ category: String, _ collection: String, _ name: String, maxLength: Int,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == String {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .text(maxLength: maxLength, validate: nil, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }
}
