// Provides `tweakValue`, the counterpart of FBTweakValue: declares a tweak at its point of use, returns its value.
//
// The first call of a call site registers the tweak; every later one is a look-up by the addresses of its literals,
// without a lock. `registry: nil` is the shared one: as an explicit argument it would be retained and released by every
// call. The forms that take `String` are for names created at run time; they look up by text.

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// Of any kind; with `choices`, one of those values. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@inlinable
public func tweakValue<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: @autoclosure () -> [Value]? = nil, maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil,
    step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
    formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .plain(
                choices: choices(), maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
                help: help, formerly: formerly, flags: flags), $1)
    }
}

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@inlinable
public func tweakValue<Value: TweakBounded, Bounds: TweakBounds<Value>>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    in range: @autoclosure () -> Bounds, step: Value? = nil, scale: TweakScale = .linear, unit: String? = nil,
    policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .range(
                range(), step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
                flags: flags), $1)
    }
}

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// One of several values, each with a display label. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:unit:help:formerly:flags:registry:fileID:line:)``.
@inlinable
public func tweakValue<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: @autoclosure () -> KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil,
    formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .labeled(choices(), unit: unit, help: help, formerly: formerly, flags: flags), $1)
    }
}

// MARK: - Names made at run time

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// Of any kind; with `choices`, one of those values. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakValue<Value: TweakConvertible>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    choices: [Value]? = nil, maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil,
    step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
    formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    registry.declared(
        category, collection, name, defaultValue,
        .plain(
            choices: choices, maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
            help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line)
    ).value
}

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakValue<Value: TweakBounded>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    in range: some TweakBounds<Value>, step: Value? = nil, scale: TweakScale = .linear, unit: String? = nil,
    policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    registry.declared(
        category, collection, name, defaultValue,
        .range(
            range, step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
            flags: flags),
        TweakSource(fileID: fileID, line: line)
    ).value
}

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// One of several values, each with a display label. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:unit:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakValue<Value: TweakConvertible>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    registry.declared(
        category, collection, name, defaultValue,
        .labeled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line)
    ).value
}
