// Declares tweaks with `Tweak(…)` and `@Tweak(…)`: plain, with a range, labeled choices, and lists.
//
// An invalid declaration (a default outside its own range, a path of another type) stops the program with an
// explanation; the forms of `TweakRegistry.register` throw instead.
//
// `registry: nil` is the shared one. The forms of single values are inlinable and no default argument is a call, so
// that with the trait `Frozen` a `static let` is a constant of the program's image.

extension Tweak where Value: TweakConvertible {
    /// A tweak of any kind; with `choices`, one of those values.
    ///
    /// ```swift
    /// static let title = Tweak("Content", "Text", "Title", "Tweaks", maxLength: 40)
    /// static let font = Tweak("Content", "Text", "Font", "Avenir", choices: ["Avenir", "Gill Sans"])
    /// ```
    /// It is registered when this runs, on any thread; a static is lazy and runs when it is first accessed, or listed at
    /// the start: see <doc:DeclaringTweaks>. The path of a registered tweak gives that tweak. A declaration that is
    /// invalid, or that has the path of a tweak of another type, stops the program with an explanation;
    /// ``TweakRegistry/register(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:fileID:line:)``
    /// throws instead.
    /// - Parameters:
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - defaultValue: The value until it is changed; it must be valid. Its type is the tweak's.
    ///   - choices: The allowed values, at least one; without it, any. The type's own cases need not be listed.
    ///   - maxLength: The maximum number of characters in a text, as readers count them.
    ///   - validate: Returns why a text is refused, or nil if it is valid. It runs on the thread that sets the value.
    ///   - step: The distance between values, counted from the lower bound, or from the default without one. Other
    ///     values are refused, except the default and the upper bound. A secret has no step.
    ///   - unit: The unit of a number, shown beside it and accepted after it: `pt`, `requests/s`.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @inlinable
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, choices: [Value]? = nil,
        maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil, step: Value? = nil,
        unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, defaultValue,
            .plain(
                choices: choices, maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
                help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// A number or duration within a range: `0...10`, `0...` or `...10`.
    ///
    /// ```swift
    /// static let size = Tweak("Content", "Text", "Size", 60.0, in: 10...100, step: 0.5, unit: "pt")
    /// static let fade = Tweak("Content", "Text", "Fade", .milliseconds(250), in: .zero ... .seconds(5))
    /// ```
    /// Code that assigns ``Tweak/value`` is clamped to the range; values of clients and of ``Tweak/set(_:)`` are refused
    /// beyond it, unless `policy` says otherwise. It registers, and stops the program, as
    /// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)`` does.
    /// - Parameters:
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - defaultValue: The value until it is changed; it must be valid.
    ///   - range: The values accepted, bounds included.
    ///   - step: The distance between values, counted from the lower bound, or from the default without one. Other
    ///     values are refused, except the default and the upper bound. A secret has no step.
    ///   - scale: How clients lay out the range on a slider; ``TweakScale/logarithmic`` needs both bounds.
    ///   - unit: The unit of a number, shown beside it and accepted after it: `pt`, `requests/s`.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @inlinable
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        in range: some TweakBounds<Value>, step: Value? = nil, scale: TweakScale? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value: TweakBounded {
        self = registry.declared(
            category, collection, name, defaultValue,
            .range(
                range, step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
                flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// One of several values, each with a display label.
    ///
    /// ```swift
    /// static let level = Tweak("Log", "Output", "Level", 1, choices: [0: "quiet", 1: "normal", 2: "chatty"])
    /// ```
    /// The parameters that are not in this list are those of
    /// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    ///
    /// - `choices`: The allowed values, each with its display label.
    @inlinable
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, defaultValue,
            .labeled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }
}

// MARK: - As property wrappers

extension Tweak where Value: TweakConvertible {
    /// As a property, a tweak of any kind; with `choices`, one of those values.
    ///
    /// ```swift
    /// @Tweak("Content", "Text", "Title", maxLength: 40) var title = "Tweaks"
    /// ```
    /// **Before an instance exists, the tweak does not**: Swift runs a wrapper's initializer for each instance. No listing
    /// shows it until then, and a line of a config file waits for it; all instances share it. For a tweak that clients are
    /// to find from the start, declare a `static let`, list it, and read that in the property; see <doc:DeclaringTweaks>.
    ///
    /// `wrappedValue` is the default; the other parameters are those of
    /// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    @inlinable
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String, choices: [Value]? = nil,
        maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil, step: Value? = nil,
        unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            category, collection, name, wrappedValue, choices: choices, maxLength: maxLength, validate: validate,
            step: step, unit: unit, policy: policy, help: help, formerly: formerly, flags: flags, registry: registry,
            fileID: fileID, line: line)
    }

    /// As a property, a number or duration within a range: `0...10`, `0...` or `...10`.
    ///
    /// ```swift
    /// @Tweak("Content", "Text", "Size", in: 10...100, step: 0.5) var size = 60.0
    /// ```
    /// The tweak does not exist before an instance does: see
    /// ``Tweak/init(wrappedValue:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    /// `wrappedValue` is the default; the other parameters are those of
    /// ``Tweak/init(_:_:_:_:in:step:scale:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    @inlinable
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        in range: some TweakBounds<Value>, step: Value? = nil, scale: TweakScale? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value: TweakBounded {
        self.init(
            category, collection, name, wrappedValue, in: range, step: step, scale: scale, unit: unit, policy: policy,
            help: help, formerly: formerly, flags: flags, registry: registry, fileID: fileID, line: line)
    }

    /// As a property, one of several values, each with a display label.
    ///
    /// ```swift
    /// @Tweak("Log", "Output", "Level", choices: [0: "quiet", 1: "normal"]) var level = 1
    /// ```
    /// `wrappedValue` is the default; the other parameters are those of
    /// ``Tweak/init(_:_:_:_:choices:unit:help:formerly:flags:registry:fileID:line:)``.
    @inlinable
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            category, collection, name, wrappedValue, choices: choices, unit: unit, help: help, formerly: formerly,
            flags: flags, registry: registry, fileID: fileID, line: line)
    }
}

extension Tweak where Value: TweakContainer {
    /// A list of any values, or an optional.
    ///
    /// ```swift
    /// static let hosts = Tweak("Upstream", "Calls", "Hosts", ["a.example", "b.example"], minLength: 1)
    /// ```
    /// The parameters that are not in this list are those of
    /// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    ///
    /// - `choices`: The allowed elements; without it, any.
    /// - `minLength`: The minimum number of values in a list.
    /// - `maxLength`: The maximum number of values in a list; 1,000 by default.
    @_disfavoredOverload
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        choices: [Value.TweakComponent]? = nil, minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, defaultValue,
            .described(
                .holding(
                    choices: choices, minLength: minLength, maxLength: maxLength,
                    DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags))),
            TweakSource(fileID: fileID, line: line))
    }

    /// As a property, a list of any values, or an optional.
    ///
    /// ```swift
    /// @Tweak("Upstream", "Calls", "Hosts", minLength: 1) var hosts = ["a.example"]
    /// ```
    /// `wrappedValue` is the default; the other parameters are those of
    /// ``Tweak/init(_:_:_:_:choices:minLength:maxLength:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        choices: [Value.TweakComponent]? = nil, minLength: Int? = nil, maxLength: Int? = nil, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            category, collection, name, wrappedValue, choices: choices, minLength: minLength, maxLength: maxLength,
            unit: unit, policy: policy, help: help, formerly: formerly, flags: flags, registry: registry,
            fileID: fileID, line: line)
    }
}

extension Tweak where Value: TweakContainer, Value.TweakComponent: TweakBounded {
    /// A list of numbers or durations within a range, or an optional one.
    ///
    /// ```swift
    /// static let delays = Tweak("Retry", "Policy", "Delays", [1, 2, 5], in: 0...60, minLength: 1, maxLength: 8)
    /// static let limit = Tweak<Int?>("Server", "Requests", "Limit", nil, in: 1...10_000)
    /// ```
    /// The parameters that are not in this list are those of
    /// ``Tweak/init(_:_:_:_:choices:maxLength:validate:step:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    ///
    /// - `range`: The accepted elements, bounds included.
    /// - `step`: The distance between values, counted from the lower bound.
    /// - `minLength`: The minimum number of values in a list.
    /// - `maxLength`: The maximum number of values in a list; 1,000 by default.
    @_disfavoredOverload
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        in range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent? = nil, minLength: Int? = nil,
        maxLength: Int? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, defaultValue,
            .described(
                .holding(
                    range, step: step, minLength: minLength, maxLength: maxLength,
                    DeclarationInfo(policy: policy, unit: unit, help: help, formerly: formerly, flags: flags))),
            TweakSource(fileID: fileID, line: line))
    }

    /// As a property, a list of numbers or durations within a range, or an optional one.
    ///
    /// ```swift
    /// @Tweak("Retry", "Policy", "Delays", in: 0...60, maxLength: 8) var delays = [1, 2, 5]
    /// ```
    /// `wrappedValue` is the default; the other parameters are those of
    /// ``Tweak/init(_:_:_:_:in:step:minLength:maxLength:unit:policy:help:formerly:flags:registry:fileID:line:)``.
    @_disfavoredOverload
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        in range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent? = nil, minLength: Int? = nil,
        maxLength: Int? = nil, unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil,
        formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        self.init(
            category, collection, name, wrappedValue, in: range, step: step, minLength: minLength, maxLength: maxLength,
            unit: unit, policy: policy, help: help, formerly: formerly, flags: flags, registry: registry,
            fileID: fileID, line: line)
    }
}

// MARK: - Implicit members such as `.seconds(5)`

// Without these, `Tweak("Content", "Text", "Fade", .milliseconds(250), in: .zero ... .seconds(5))` needs a `Duration`
// overload of each generic form: an implicit member is looked up in the constraint of the parameter's type.
extension TweakConvertible where Self == Duration {
    /// Same as `Duration.zero`.
    @inlinable public static var zero: Duration { Duration.zero }
    /// Same as `Duration.seconds(_:)`.
    @inlinable public static func seconds(_ count: some BinaryInteger) -> Duration { Duration.seconds(count) }
    /// Same as `Duration.seconds(_:)`.
    @inlinable public static func seconds(_ count: Double) -> Duration { Duration.seconds(count) }
    /// Same as `Duration.milliseconds(_:)`.
    @inlinable public static func milliseconds(_ count: some BinaryInteger) -> Duration { Duration.milliseconds(count) }
    /// Same as `Duration.milliseconds(_:)`.
    @inlinable public static func milliseconds(_ count: Double) -> Duration { Duration.milliseconds(count) }
    /// Same as `Duration.microseconds(_:)`.
    @inlinable public static func microseconds(_ count: some BinaryInteger) -> Duration { Duration.microseconds(count) }
    /// Same as `Duration.microseconds(_:)`.
    @inlinable public static func microseconds(_ count: Double) -> Duration { Duration.microseconds(count) }
    /// Same as `Duration.nanoseconds(_:)`.
    @inlinable public static func nanoseconds(_ count: some BinaryInteger) -> Duration { Duration.nanoseconds(count) }
}
