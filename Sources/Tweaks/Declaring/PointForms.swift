// Declares points within a range for each coordinate.
//
// The forms of `TweakPoint` alone make implicit members compile, `.zero` and `.init(x: 1, y: 2)`: those are looked up in
// the type of the parameter, which for any type of two numbers is a protocol.

extension Tweak where Value == TweakPoint {
    /// A point within a range for each coordinate.
    ///
    /// ```swift
    /// static let offset = Tweak("Label", "Text", "Offset", TweakPoint(x: 12, y: 40), in: .init(x: 0...320, y: 0...90))
    /// ```
    /// The parameters that are not in this list are those of
    /// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    ///
    /// - `range`: The points accepted, bounds included.
    /// - `step`: The distance between coordinates, counted from the lower bounds.
    @_disfavoredOverload
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: TweakPoint, in range: TweakPointRange,
        step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        let info = DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)
        self = registry.declared(
            category, collection, name, defaultValue, .described(.point(range, step: step, info)),
            TweakSource(fileID: fileID, line: line))
    }

    /// As a property, a point within a range for each coordinate.
    ///
    /// ```swift
    /// @Tweak("Label", "Text", "Offset", in: .init(x: 0...320, y: 0...200)) var offset = TweakPoint(x: 12, y: 40)
    /// ```
    /// `wrappedValue` is the default; the other parameters are those of the form with a name and a default.
    @_disfavoredOverload
    public init(
        wrappedValue: TweakPoint, _ category: String, _ collection: String, _ name: String, in range: TweakPointRange,
        step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        self.init(
            category, collection, name, wrappedValue, in: range, step: step, unit: unit, policy: policy, help: help,
            formerly: formerly, flags: flags, registry: registry, fileID: fileID, line: line)
    }
}

extension Tweak where Value: TweakPointConvertible {
    /// A value of any type of two numbers, such as `CGSize`, within a range for each.
    ///
    /// The parameters that are not in this list are those of
    /// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    ///
    /// - `range`: The points accepted, bounds included.
    /// - `step`: The distance between coordinates, counted from the lower bounds.
    @_disfavoredOverload
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, in range: TweakPointRange,
        step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        let info = DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)
        self = registry.declared(
            category, collection, name, defaultValue, .described(.point(range, step: step, info)),
            TweakSource(fileID: fileID, line: line))
    }

    /// As a property, a value of any type of two numbers, such as `CGSize`, within a range for each.
    ///
    /// `wrappedValue` is the default; the other parameters are those of the form with a name and a default.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String, in range: TweakPointRange,
        step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        self.init(
            category, collection, name, wrappedValue, in: range, step: step, unit: unit, policy: policy, help: help,
            formerly: formerly, flags: flags, registry: registry, fileID: fileID, line: line)
    }
}

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// A point within a range for each coordinate. The parameters are those of the same form of ``Tweak``.
@_disfavoredOverload
public func tweakValue(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: TweakPoint,
    in range: TweakPointRange, step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
) -> TweakPoint {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        .described(
            .point(
                range, step: step,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)))
    }
}

/// Declares a tweak at its point of use and returns its current value, as FBTweakValue does.
///
/// A value of any type of two numbers, such as `CGSize`, within a range for each. The parameters are those of the same
/// form of ``Tweak``.
@_disfavoredOverload
public func tweakValue<Value: TweakPointConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
    in range: TweakPointRange, step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
) -> Value {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        .described(
            .point(
                range, step: step,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)))
    }
}

extension TweakRegistry {
    /// Registers a point within a range for each coordinate, or returns the tweak with this path.
    ///
    /// The parameters are those of the same form of ``Tweak``.
    /// - Throws: ``TweakError`` for a declaration with which `Tweak(…)` would stop the program.
    @_disfavoredOverload
    public func register(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: TweakPoint, in range: TweakPointRange,
        step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<TweakPoint> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .point(
                range, step: step,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }

    /// Registers a value of any type of two numbers within a range for each, or returns the tweak with this path.
    ///
    /// The parameters are those of the same form of ``Tweak``.
    /// - Throws: ``TweakError`` for a declaration with which `Tweak(…)` would stop the program.
    @_disfavoredOverload
    public func register<Value: TweakPointConvertible>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, in range: TweakPointRange,
        step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<Value> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .point(
                range, step: step,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }
}
