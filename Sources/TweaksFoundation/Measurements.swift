// Makes measurements values of tweaks: numbers in the unit of their default.

public import Foundation
public import Tweaks

extension Measurement: TweakStorable where UnitType: Dimension {
    /// From a number, in the base unit; a tweak converts to the unit of its default.
    public static func tweakTyped(_ value: TweakValue) -> Self? {
        Double(value).map { Measurement(value: $0, unit: UnitType.baseUnit()) }
    }
    /// `.number`, in this measurement's own unit; a tweak converts to the unit of its default.
    public var tweakErased: TweakValue { .number(value) }
    /// `.number`.
    public static var tweakKind: TweakKind? { .number }

    /// The conversion to and from numbers in this measurement's unit.
    fileprivate var conversion: RelativeConversion<Self> {
        let unit = unit
        return RelativeConversion(
            typed: { Double($0).map { Measurement(value: $0, unit: unit) } },
            // A conversion may lose digits.
            erased: { .number($0.unit == unit ? $0.value : $0.converted(to: unit).value) })
    }
}

extension RelativeNumber {
    /// The attributes of a measurement; bounds and step are in the unit of the default.
    fileprivate convenience init<UnitType: Dimension>(
        _ standard: Value, _ range: (some TweakBounds<Double>)?, step: Double?, scale: TweakScale?, policy: TweakPolicy,
        help: String?, formerly: String?, flags: TweakFlags
    ) where Value == Measurement<UnitType> {
        func measured(_ number: Double?) -> Value? { number.map { Measurement(value: $0, unit: standard.unit) } }
        self.init(
            standard.conversion, bounds: (measured(range?.tweakLowerBound), measured(range?.tweakUpperBound)),
            step: measured(step), scale: scale, unit: standard.unit.symbol, policy: policy, help: help,
            formerly: formerly, flags: flags)
    }
}

extension Tweak {
    /// A measurement: a number in the unit of its default, which is the tweak's `unit`.
    ///
    /// ```swift
    /// static let radius = Tweak("Map", "Search", "Radius", Measurement(value: 5, unit: UnitLength.kilometers))
    /// ```
    /// Clients write `7.5` or `7.5 km`. The program may set it in any unit of the dimension.
    /// - Parameters:
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - defaultValue: The value until it is changed, in the unit that clients see.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is `TweakRegistry.shared`.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    public init<UnitType: Dimension>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, policy: TweakPolicy = .reject,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == Measurement<UnitType> {
        let number = RelativeNumber(
            defaultValue, ClosedRange<Double>?.none, step: nil, scale: .linear, policy: policy, help: help,
            formerly: formerly, flags: flags)
        self.init(category, collection, name, defaultValue, number, registry: registry, fileID: fileID, line: line)
    }

    /// A measurement within a range in the unit of its default.
    ///
    /// ```swift
    /// static let radius = Tweak(
    ///     "Map", "Search", "Radius", Measurement(value: 5, unit: UnitLength.kilometers), in: 0.1...50)
    /// ```
    /// - Parameters:
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - defaultValue: The value until it is changed, in the unit that clients see.
    ///   - range: The values accepted, bounds included, in the unit of the default.
    ///   - step: The distance between values, counted from the lower bound, or from the default without one,
    ///     in the unit of the default.
    ///   - scale: How clients lay out the range on a slider.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is `TweakRegistry.shared`.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    public init<UnitType: Dimension>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        in range: some TweakBounds<Double>, step: Double? = nil, scale: TweakScale? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == Measurement<UnitType> {
        let number = RelativeNumber(
            defaultValue, range, step: step, scale: scale, policy: policy, help: help, formerly: formerly, flags: flags)
        self.init(category, collection, name, defaultValue, number, registry: registry, fileID: fileID, line: line)
    }

    /// As a property, a measurement: `@Tweak("Map", "Search", "Radius") var radius = Measurement(…)`.
    public init<UnitType: Dimension>(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String, policy: TweakPolicy = .reject,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == Measurement<UnitType> {
        self.init(
            category, collection, name, wrappedValue, policy: policy, help: help, formerly: formerly, flags: flags,
            registry: registry, fileID: fileID, line: line)
    }

    /// As a property, a measurement within a range in the unit of its default.
    public init<UnitType: Dimension>(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        in range: some TweakBounds<Double>, step: Double? = nil, scale: TweakScale? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == Measurement<UnitType> {
        self.init(
            category, collection, name, wrappedValue, in: range, step: step, scale: scale, policy: policy, help: help,
            formerly: formerly, flags: flags, registry: registry, fileID: fileID, line: line)
    }
}

extension TweakRegistry {
    /// Registers a measurement, or returns the tweak with this path.
    /// - Throws: `TweakError` for a declaration with which `Tweak(…)` would stop the program.
    public func register<UnitType: Dimension>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Measurement<UnitType>,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<Measurement<UnitType>> {
        let number = RelativeNumber(
            defaultValue, ClosedRange<Double>?.none, step: nil, scale: .linear, policy: policy,
            help: help, formerly: formerly, flags: flags)
        return try register(TweakPath(category, collection, name), defaultValue, number, fileID: fileID, line: line)
    }

    /// Registers a measurement within a range in the unit of its default, or returns the tweak with this path.
    /// - Throws: `TweakError` for a declaration with which `Tweak(…)` would stop the program.
    public func register<UnitType: Dimension>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Measurement<UnitType>,
        in range: some TweakBounds<Double>, step: Double? = nil,
        scale: TweakScale? = nil, policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [], fileID: StaticString = #fileID, line: UInt = #line
    ) throws(TweakError) -> Tweak<Measurement<UnitType>> {
        let number = RelativeNumber(
            defaultValue, range, step: step, scale: scale, policy: policy, help: help, formerly: formerly, flags: flags)
        return try register(TweakPath(category, collection, name), defaultValue, number, fileID: fileID, line: line)
    }
}
