// Provides `tweakInline`, the counterpart of FBTweakInline: declares a tweak at its point of use, returns the handle.

/// Declares a tweak at its point of use and returns its handle, as FBTweakInline does.
///
/// Of any kind; with `choices`, one of those values. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@inlinable
public func tweakInline<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: @autoclosure () -> [Value]? = nil, maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil,
    step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
    formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.tweak(category, collection, name, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .plain(
                choices: choices(), maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
                help: help, formerly: formerly, flags: flags), $1)
    }
}

/// Declares a tweak at its point of use and returns its handle, as FBTweakInline does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@inlinable
public func tweakInline<Value: TweakBounded, Bounds: TweakBounds<Value>>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    in range: @autoclosure () -> Bounds, step: Value? = nil, scale: TweakScale = .linear, unit: String? = nil,
    policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.tweak(category, collection, name, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .range(
                range(), step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
                flags: flags), $1)
    }
}

/// Declares a tweak at its point of use and returns its handle, as FBTweakInline does.
///
/// One of several values, each with a display label. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:unit:help:formerly:flags:registry:fileID:line:)``.
@inlinable
public func tweakInline<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: @autoclosure () -> KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil,
    formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.tweak(category, collection, name, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .labeled(choices(), unit: unit, help: help, formerly: formerly, flags: flags), $1)
    }
}

// MARK: - Names made at run time

/// Declares a tweak at its point of use and returns its handle, as FBTweakInline does.
///
/// Of any kind; with `choices`, one of those values. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakInline<Value: TweakConvertible>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    choices: [Value]? = nil, maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil,
    step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
    formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.declared(
        category, collection, name, defaultValue,
        .plain(
            choices: choices, maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
            help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line)
    )
}

/// Declares a tweak at its point of use and returns its handle, as FBTweakInline does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakInline<Value: TweakBounded>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    in range: some TweakBounds<Value>, step: Value? = nil, scale: TweakScale = .linear, unit: String? = nil,
    policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.declared(
        category, collection, name, defaultValue,
        .range(
            range, step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
            flags: flags),
        TweakSource(fileID: fileID, line: line)
    )
}

/// Declares a tweak at its point of use and returns its handle, as FBTweakInline does.
///
/// One of several values, each with a display label. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:unit:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakInline<Value: TweakConvertible>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.declared(
        category, collection, name, defaultValue,
        .labeled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line)
    )
}
