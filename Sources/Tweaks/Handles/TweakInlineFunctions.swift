// FBTweakInline: the handle, at the place where it is used.

/// The handle of a tweak that is declared where it is used: FBTweakInline.
///
/// A tweak of any kind; with `choices`, one of those values.
@inlinable
public func tweakInline<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: @autoclosure () -> [Value] = [], unit: String? = nil, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.tweak(category, collection, name, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue, .plain(choices: choices(), unit: unit, help: help, formerly: formerly, flags: flags), $1)
    }
}

/// The handle of a tweak that is declared where it is used: FBTweakInline.
///
/// A number within a range: `0...10`, `0...` or `...10`.
@inlinable
public func tweakInline<Value: TweakBounded>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    in range: some TweakBounds<Value>, step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line
) -> Tweak<Value> {
    registry.tweak(category, collection, name, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags), $1)
    }
}

/// The handle of a tweak that is declared where it is used: FBTweakInline.
///
/// A duration within a range.
@inlinable
public func tweakInline(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Duration,
    in range: some TweakBounds<Duration>, step: Duration? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line
) -> Tweak<Duration> {
    registry.tweak(category, collection, name, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags), $1)
    }
}

/// The handle of a tweak that is declared where it is used: FBTweakInline.
///
/// One of several values, each with a label for people.
@inlinable
public func tweakInline<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: @autoclosure () -> KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil,
    formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.tweak(category, collection, name, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue, .labelled(choices(), unit: unit, help: help, formerly: formerly, flags: flags), $1)
    }
}

// MARK: - Names made at run time

/// The handle of a tweak that is declared where it is used: FBTweakInline.
///
/// A tweak of any kind; with `choices`, one of those values.
@_disfavoredOverload
public func tweakInline<Value: TweakConvertible>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, choices: [Value] = [],
    unit: String? = nil, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.declared(
        category, collection, name, defaultValue,
        .plain(choices: choices, unit: unit, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line))
}

/// The handle of a tweak that is declared where it is used: FBTweakInline.
///
/// A number within a range: `0...10`, `0...` or `...10`.
@_disfavoredOverload
public func tweakInline<Value: TweakBounded>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    in range: some TweakBounds<Value>, step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line
) -> Tweak<Value> {
    registry.declared(
        category, collection, name, defaultValue,
        .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line))
}

/// The handle of a tweak that is declared where it is used: FBTweakInline.
///
/// A duration within a range.
@_disfavoredOverload
public func tweakInline(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Duration,
    in range: some TweakBounds<Duration>, step: Duration? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line
) -> Tweak<Duration> {
    registry.declared(
        category, collection, name, defaultValue,
        .range(range, step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line))
}

/// The handle of a tweak that is declared where it is used: FBTweakInline.
///
/// One of several values, each with a label for people.
@_disfavoredOverload
public func tweakInline<Value: TweakConvertible>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.declared(
        category, collection, name, defaultValue,
        .labelled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line))
}
