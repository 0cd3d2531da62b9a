// FBTweakValue: the value, at the place where it is used.
//
// The first call of a call site registers the tweak; every later one is a look-up by the addresses of its literals,
// without a lock. `registry: nil` is the shared one: named, it would be retained and released by every call. The forms that take `String` serve names that are made at run time; they look up by text.

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// A tweak of any kind; with `choices`, one of those values.
@inlinable
public func tweakValue<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: @autoclosure () -> [Value] = [], unit: String? = nil, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue, .plain(choices: choices(), unit: unit, help: help, formerly: formerly, flags: flags), $1)
    }
}

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// A number within a range: `0...10`, `0...` or `...10`.
@inlinable
public func tweakValue<Value: TweakBounded>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    in range: some TweakBounds<Value>, step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line
) -> Value {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags), $1)
    }
}

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// A duration within a range.
@inlinable
public func tweakValue<Bounds: TweakBounds<Duration>>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Duration,
    in range: @autoclosure () -> Bounds, step: Duration? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line
) -> Duration {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .range(range(), step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags), $1)
    }
}

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// One of several values, each with a label for people.
@inlinable
public func tweakValue<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: @autoclosure () -> KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil,
    formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue, .labelled(choices(), unit: unit, help: help, formerly: formerly, flags: flags), $1)
    }
}

// MARK: - Names made at run time

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// A tweak of any kind; with `choices`, one of those values.
@_disfavoredOverload
public func tweakValue<Value: TweakConvertible>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, choices: [Value] = [],
    unit: String? = nil, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    registry.declared(
        category, collection, name, defaultValue,
        .plain(choices: choices, unit: unit, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line)
    ).value
}

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// A number within a range: `0...10`, `0...` or `...10`.
@_disfavoredOverload
public func tweakValue<Value: TweakBounded>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    in range: some TweakBounds<Value>, step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line
) -> Value {
    registry.declared(
        category, collection, name, defaultValue,
        .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line)
    ).value
}

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// A duration within a range.
@_disfavoredOverload
public func tweakValue(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Duration,
    in range: some TweakBounds<Duration>, step: Duration? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line
) -> Duration {
    registry.declared(
        category, collection, name, defaultValue,
        .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line)
    ).value
}

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// One of several values, each with a label for people.
@_disfavoredOverload
public func tweakValue<Value: TweakConvertible>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    registry.declared(
        category, collection, name, defaultValue,
        .labelled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line)
    ).value
}
