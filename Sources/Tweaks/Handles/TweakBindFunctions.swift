// Provides `tweakBind`, the counterpart of FBTweakBind: declares a tweak and binds a property to it.

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// Of any kind; with `choices`, one of those values. Sets the property now (unless `when` is `.onChange`), then on
/// each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject & Sendable, Value: TweakConvertible>(
    _ object: Object, _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable,
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    choices: [Value]? = nil, maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil,
    step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject, when: TweakBindingStart = .now,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = registry.declared(
        category, collection, name, defaultValue,
        .plain(
            choices: choices, maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
            help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line))
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. Sets the property now (unless `when` is
/// `.onChange`), then on each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject & Sendable, Value: TweakBounded>(
    _ object: Object, _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable,
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    in range: some TweakBounds<Value>, step: Value? = nil, scale: TweakScale = .linear, unit: String? = nil,
    policy: TweakPolicy = .reject, when: TweakBindingStart = .now, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = registry.declared(
        category, collection, name, defaultValue,
        .range(
            range, step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
            flags: flags),
        TweakSource(fileID: fileID, line: line))
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// One of several values, each with a display label. Sets the property now (unless `when` is `.onChange`), then on
/// each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:choices:unit:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject & Sendable, Value: TweakConvertible>(
    _ object: Object, _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable,
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    choices: KeyValuePairs<Value, String>, unit: String? = nil, when: TweakBindingStart = .now, help: String? = nil,
    formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = registry.declared(
        category, collection, name, defaultValue,
        .labeled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line))
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
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>,
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    choices: [Value]? = nil, maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil,
    step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject, when: TweakBindingStart = .now,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    isolation: isolated ActorOfNonSendableObject = #isolation, fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = registry.declared(
        category, collection, name, defaultValue,
        .plain(
            choices: choices, maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
            help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line))
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// A number or duration within a range: `0...10`, `0...` or `...10`. Sets the property now (unless `when` is
/// `.onChange`), then on each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject, Value: TweakBounded>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>,
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    in range: some TweakBounds<Value>, step: Value? = nil, scale: TweakScale = .linear, unit: String? = nil,
    policy: TweakPolicy = .reject, when: TweakBindingStart = .now, help: String? = nil, formerly: String? = nil,
    flags: TweakFlags = [], registry: TweakRegistry? = nil, isolation: isolated ActorOfNonSendableObject = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = registry.declared(
        category, collection, name, defaultValue,
        .range(
            range, step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
            flags: flags),
        TweakSource(fileID: fileID, line: line))
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}

/// Keeps a property equal to a tweak, as FBTweakBind does.
///
/// One of several values, each with a display label. Sets the property now (unless `when` is `.onChange`), then on
/// each change; the object is held weakly, see `bind(to:_:)`. The other parameters are those of
/// ``Tweak/init(_:_:_:_:choices:unit:help:formerly:flags:registry:fileID:line:)``.
@discardableResult
public func tweakBind<Object: AnyObject, Value: TweakConvertible>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>,
    _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
    choices: KeyValuePairs<Value, String>, unit: String? = nil, when: TweakBindingStart = .now, help: String? = nil,
    formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    isolation: isolated ActorOfNonSendableObject = #isolation, fileID: StaticString = #fileID, line: UInt = #line
) -> TweakBinding {
    let tweak = registry.declared(
        category, collection, name, defaultValue,
        .labeled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
        TweakSource(fileID: fileID, line: line))
    return tweak.bind(to: object, keyPath, when: when, isolation: isolation)
}
