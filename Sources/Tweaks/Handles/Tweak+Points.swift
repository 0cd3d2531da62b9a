// Declares points with `Tweak(…)`, `@Tweak(…)`, `register(…)` and `tweakValue(…)`.

extension Tweak where Value == TweakPoint {
    /// A point within a range for each coordinate.
    ///
    /// ```swift
    /// static let offset = Tweak("Label", "Text", "Offset", TweakPoint(x: 12, y: 40), in: .init(x: 0...320, y: 0...90))
    /// ```
    /// - Parameters:
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - defaultValue: The value until it is changed; it must be valid.
    ///   - range: The points accepted, bounds included.
    ///   - step: The distance between coordinates, counted from the lower bounds.
    ///   - unit: The unit of its numbers: `pt`, `requests/s`.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @_disfavoredOverload
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        in range: TweakPointRange, step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, defaultValue,
            .point(
                range, step: step,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }

    /// As a property, a point within a range for each coordinate.
    ///
    /// ```swift
    /// @Tweak("Label", "Text", "Offset", in: .init(x: 0...320, y: 0...200)) var offset = TweakPoint(x: 12, y: 40)
    /// ```
    /// - Parameters:
    ///   - wrappedValue: The value until it is changed; it must be valid.
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - range: The points accepted, bounds included.
    ///   - step: The distance between coordinates, counted from the lower bounds.
    ///   - unit: The unit of its numbers: `pt`, `requests/s`.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        in range: TweakPointRange, step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .point(
                range, step: step,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }
}

extension TweakRegistry {
    /// Registers a point within a range for each coordinate, or returns the tweak with this path.
    ///
    /// The parameters are those of
    /// ``Tweak/init(_:_:_:_:in:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    /// - Throws: ``TweakError`` for a declaration with which `Tweak(…)` would stop the program.
    @_disfavoredOverload
    public func register(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: TweakPoint,
        in range: TweakPointRange, step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [],
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<TweakPoint> {
        try declare(
            TweakPath(category, collection, name), defaultValue,
            .point(
                range, step: step,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)),
            TweakSource(fileID: fileID, line: line))
    }
}

/// The current value of a tweak that is declared where it is used: FBTweakValue.
///
/// A point within a range for each coordinate. The parameters are those of
/// ``Tweak/init(_:_:_:_:in:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
@_disfavoredOverload
public func tweakValue(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: TweakPoint,
    in range: TweakPointRange, step: Double? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
    help: String? = nil,
    formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
) -> TweakPoint {
    callSiteValue(category, collection, name, defaultValue, registry, TweakSource(fileID: fileID, line: line)) {
        registry.declared(
            $0, defaultValue,
            .point(
                range, step: step,
                DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags)), $1)
    }
}
