// Declares tweaks where they are used, as FBTweaks' macros do: `tweakValue`, `tweakInline` and `tweakBind`.
//
// The first call of a call site registers the tweak; every later one is a look-up by the addresses of its literals,
// without a lock. `registry: nil` is the shared one: as an explicit argument it would be retained and released by every
// call. The forms that take `String` are for names created at run time; they look up by text.

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// ```swift
/// label.text = tweakValue("Content", "Text", "Title", "Tweaks", maxLength: 40)
/// ```
/// The first call registers the tweak, which no client sees before; later ones cost a few nanoseconds. It may be called
/// on any thread. An invalid declaration stops the program with an explanation.
///
/// Of any kind; with `choices`, one of those values. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@inlinable
public func tweakValue<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: @autoclosure () -> [Value]? = nil, maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil,
    step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
    formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
) -> Value {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        .plain(
            choices: choices(), maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
            help: help, formerly: formerly, flags: flags)
    }
}

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@inlinable
public func tweakValue<Value: TweakBounded, Bounds: TweakBounds<Value>>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    in range: @autoclosure () -> Bounds, step: Value? = nil, scale: TweakScale? = nil, unit: String? = nil,
    policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        .range(
            range(), step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
            flags: flags)
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
    formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
) -> Value {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        .labeled(choices(), unit: unit, help: help, formerly: formerly, flags: flags)
    }
}

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// A list of any values, or an optional. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:minLength:maxLength:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakValue<Value>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: [Value.TweakComponent]? = nil, minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil,
    policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value where Value: TweakContainer {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        .described(
            .holding(
                choices: choices, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)))
    }
}

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// A list of numbers or durations within a range, or an optional one. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:minLength:maxLength:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakValue<Value>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    in range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent? = nil, minLength: Int? = nil,
    maxLength: Int? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
    formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
) -> Value where Value: TweakContainer, Value.TweakComponent: TweakBounded {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        .described(
            .holding(
                range, step: step, minLength: minLength, maxLength: maxLength,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)))
    }
}

// MARK: - Names made at run time

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// Of any kind; with `choices`, one of those values. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakValue<Value: TweakConvertible>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, choices: [Value]? = nil,
    maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil, step: Value? = nil, unit: String? = nil,
    policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    Tweak(
        category, collection, name, defaultValue, choices: choices, maxLength: maxLength, validate: validate,
        step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags, registry: registry,
        fileID: fileID, line: line
    ).value
}

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakValue<Value: TweakBounded>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, in range: some TweakBounds<Value>,
    step: Value? = nil, scale: TweakScale? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    Tweak(
        category, collection, name, defaultValue, in: range, step: step, scale: scale, unit: unit, policy: policy,
        help: help, formerly: formerly, flags: flags, registry: registry, fileID: fileID, line: line
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
    Tweak(
        category, collection, name, defaultValue, choices: choices, unit: unit, help: help, formerly: formerly,
        flags: flags, registry: registry, fileID: fileID, line: line
    ).value
}

/// Declares a tweak at its point of use and returns its handle, as FBTweakInline does.
///
/// ```swift
/// let alpha = tweakInline("Content", "Text", "Alpha", 0.5)
/// observation = alpha.observe { change in redraw(change.new) }
/// ```
/// The first call registers the tweak, which no client sees before. It may be called on any thread. An invalid
/// declaration stops the program with an explanation.
///
/// Of any kind; with `choices`, one of those values. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@inlinable
public func tweakInline<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    choices: @autoclosure () -> [Value]? = nil, maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil,
    step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
    formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
) -> Tweak<Value> {
    registry.tweak(category, collection, name, defaultValue, TweakSource(fileID: fileID, line: line)) {
        .plain(
            choices: choices(), maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
            help: help, formerly: formerly, flags: flags)
    }
}

/// Declares a tweak at its point of use and returns its handle, as FBTweakInline does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@inlinable
public func tweakInline<Value: TweakBounded, Bounds: TweakBounds<Value>>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    in range: @autoclosure () -> Bounds, step: Value? = nil, scale: TweakScale? = nil, unit: String? = nil,
    policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    registry.tweak(category, collection, name, defaultValue, TweakSource(fileID: fileID, line: line)) {
        .range(
            range(), step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
            flags: flags)
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
    formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
    line: UInt = #line
) -> Tweak<Value> {
    registry.tweak(category, collection, name, defaultValue, TweakSource(fileID: fileID, line: line)) {
        .labeled(choices(), unit: unit, help: help, formerly: formerly, flags: flags)
    }
}

// MARK: - Names made at run time

/// Declares a tweak at its point of use and returns its handle, as FBTweakInline does.
///
/// Of any kind; with `choices`, one of those values. The parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakInline<Value: TweakConvertible>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, choices: [Value]? = nil,
    maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil, step: Value? = nil, unit: String? = nil,
    policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    Tweak(
        category, collection, name, defaultValue, choices: choices, maxLength: maxLength, validate: validate,
        step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags, registry: registry,
        fileID: fileID, line: line)
}

/// Declares a tweak at its point of use and returns its handle, as FBTweakInline does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakInline<Value: TweakBounded>(
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, in range: some TweakBounds<Value>,
    step: Value? = nil, scale: TweakScale? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
) -> Tweak<Value> {
    Tweak(
        category, collection, name, defaultValue, in: range, step: step, scale: scale, unit: unit, policy: policy,
        help: help, formerly: formerly, flags: flags, registry: registry, fileID: fileID, line: line)
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
    Tweak(
        category, collection, name, defaultValue, choices: choices, unit: unit, help: help, formerly: formerly,
        flags: flags, registry: registry, fileID: fileID, line: line)
}

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// ```swift
/// tweakBind(label, \.text, "Content", "Text", "Title", "Tweaks")
/// ```
/// Of any kind; with `choices`, one of those values. Sets the property now (unless `when` is `.onChange`), then on
/// each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject & Sendable, Value: TweakConvertible>(
    _ object: Object, _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable, _ category: String,
    _ collection: String, _ name: String, _ defaultValue: Value, choices: [Value]? = nil, maxLength: Int? = nil,
    validate: (@Sendable (String) -> String?)? = nil, step: Value? = nil, unit: String? = nil,
    policy: TweakPolicy = .reject, when: TweakBindingStart = .now, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = Tweak(
        category, collection, name, defaultValue, choices: choices, maxLength: maxLength, validate: validate,
        step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags, registry: registry,
        fileID: fileID, line: line)
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. Sets the property now (unless `when` is
/// `.onChange`), then on each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject & Sendable, Value: TweakBounded>(
    _ object: Object, _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable, _ category: String,
    _ collection: String, _ name: String, _ defaultValue: Value, in range: some TweakBounds<Value>, step: Value? = nil,
    scale: TweakScale? = nil, unit: String? = nil, policy: TweakPolicy = .reject, when: TweakBindingStart = .now,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = Tweak(
        category, collection, name, defaultValue, in: range, step: step, scale: scale, unit: unit, policy: policy,
        help: help, formerly: formerly, flags: flags, registry: registry, fileID: fileID, line: line)
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// One of several values, each with a display label. Sets the property now (unless `when` is `.onChange`), then on
/// each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:choices:unit:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject & Sendable, Value: TweakConvertible>(
    _ object: Object, _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable, _ category: String,
    _ collection: String, _ name: String, _ defaultValue: Value, choices: KeyValuePairs<Value, String>,
    unit: String? = nil, when: TweakBindingStart = .now, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = Tweak(
        category, collection, name, defaultValue, choices: choices, unit: unit, help: help, formerly: formerly,
        flags: flags, registry: registry, fileID: fileID, line: line)
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}

// MARK: - Objects that stay on one actor

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// Of any kind; with `choices`, one of those values. Sets the property now (unless `when` is `.onChange`), then on
/// each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject, Value: TweakConvertible>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>, _ category: String, _ collection: String,
    _ name: String, _ defaultValue: Value, choices: [Value]? = nil, maxLength: Int? = nil,
    validate: (@Sendable (String) -> String?)? = nil, step: Value? = nil, unit: String? = nil,
    policy: TweakPolicy = .reject, when: TweakBindingStart = .now, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, isolation: isolated ActorOfNonSendableObject = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = Tweak(
        category, collection, name, defaultValue, choices: choices, maxLength: maxLength, validate: validate,
        step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags, registry: registry,
        fileID: fileID, line: line)
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. Sets the property now (unless `when` is
/// `.onChange`), then on each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject, Value: TweakBounded>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>, _ category: String, _ collection: String,
    _ name: String, _ defaultValue: Value, in range: some TweakBounds<Value>, step: Value? = nil,
    scale: TweakScale? = nil, unit: String? = nil, policy: TweakPolicy = .reject, when: TweakBindingStart = .now,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    isolation: isolated ActorOfNonSendableObject = #isolation, fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = Tweak(
        category, collection, name, defaultValue, in: range, step: step, scale: scale, unit: unit, policy: policy,
        help: help, formerly: formerly, flags: flags, registry: registry, fileID: fileID, line: line)
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// One of several values, each with a display label. Sets the property now (unless `when` is `.onChange`), then on
/// each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:choices:unit:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject, Value: TweakConvertible>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>, _ category: String, _ collection: String,
    _ name: String, _ defaultValue: Value, choices: KeyValuePairs<Value, String>, unit: String? = nil,
    when: TweakBindingStart = .now, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
    registry: TweakRegistry? = nil, isolation: isolated ActorOfNonSendableObject = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = Tweak(
        category, collection, name, defaultValue, choices: choices, unit: unit, help: help, formerly: formerly,
        flags: flags, registry: registry, fileID: fileID, line: line)
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}
