// Declares tweaks with `Tweak(…)` and `@Tweak(…)`: plain, with a range, or with labeled choices.
//
// An invalid declaration (a default outside its own range, a path of another type) stops the program with an
// explanation; the forms of `TweakRegistry.register` throw instead.
//
// `registry: nil` is the shared one. Everything is inlinable and no default argument is a call, so that with the trait
// `Frozen` a `static let` is a constant of the program's image.

extension Tweak where Value: TweakConvertible {
    /// A tweak of any kind; with `choices`, one of those values.
    ///
    /// ```swift
    /// static let title = Tweak("Content", "Text", "Title", "Tweaks", maxLength: 40)
    /// static let font = Tweak("Content", "Text", "Font", "Avenir", choices: ["Avenir", "Gill Sans"])
    /// ```
    /// - Parameters:
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - defaultValue: The value until it is changed; it must be valid.
    ///   - choices: The allowed values; without it, any.
    ///   - maxLength: The maximum number of characters in a text.
    ///   - validate: Returns why a text is refused, or nil if it is valid. It runs on the thread that sets the value.
    ///   - step: The distance between values, counted from the lower bound, or from the default without one. Other
    ///     values are refused, except the default and the upper bound. A secret has no step.
    ///   - unit: The unit of a number: `pt`, `requests/s`.
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
        unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
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
    /// - Parameters:
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - defaultValue: The value until it is changed; it must be valid.
    ///   - range: The values accepted, bounds included.
    ///   - step: The distance between values, counted from the lower bound, or from the default without one. Other
    ///     values are refused, except the default and the upper bound. A secret has no step.
    ///   - scale: How clients lay out the range on a slider; ``TweakScale/logarithmic`` needs both bounds.
    ///   - unit: The unit of a number: `pt`, `requests/s`.
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
        in range: some TweakBounds<Value>, step: Value? = nil, scale: TweakScale = .linear, unit: String? = nil,
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
    /// - Parameters:
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - defaultValue: The value until it is changed; it must be valid.
    ///   - choices: The allowed values, each with its display label.
    ///   - unit: The unit of a number: `pt`, `requests/s`.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
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
    /// - Parameters:
    ///   - wrappedValue: The value until it is changed; it must be valid.
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - choices: The allowed values; without it, any.
    ///   - maxLength: The maximum number of characters in a text.
    ///   - validate: Returns why a text is refused, or nil if it is valid. It runs on the thread that sets the value.
    ///   - step: The distance between values, counted from the lower bound, or from the default without one. Other
    ///     values are refused, except the default and the upper bound. A secret has no step.
    ///   - unit: The unit of a number: `pt`, `requests/s`.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @inlinable
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String, choices: [Value]? = nil,
        maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil, step: Value? = nil,
        unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .plain(
                choices: choices, maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
                help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// As a property, a number or duration within a range: `0...10`, `0...` or `...10`.
    ///
    /// ```swift
    /// @Tweak("Content", "Text", "Size", in: 10...100, step: 0.5) var size = 60.0
    /// ```
    /// - Parameters:
    ///   - wrappedValue: The value until it is changed; it must be valid.
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - range: The values accepted, bounds included.
    ///   - step: The distance between values, counted from the lower bound, or from the default without one. Other
    ///     values are refused, except the default and the upper bound. A secret has no step.
    ///   - scale: How clients lay out the range on a slider; ``TweakScale/logarithmic`` needs both bounds.
    ///   - unit: The unit of a number: `pt`, `requests/s`.
    ///   - policy: How a value from outside that breaks range or step is handled: refused, clamped or snapped.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @inlinable
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        in range: some TweakBounds<Value>, step: Value? = nil, scale: TweakScale = .linear, unit: String? = nil,
        policy: TweakPolicy = .reject, help: String? = nil, formerly: String? = nil, flags: TweakFlags = [],
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value: TweakBounded {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .range(
                range, step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: formerly,
                flags: flags),
            TweakSource(fileID: fileID, line: line))
    }

    /// As a property, one of several values, each with a display label.
    ///
    /// ```swift
    /// @Tweak("Log", "Output", "Level", choices: [0: "quiet", 1: "normal"]) var level = 1
    /// ```
    /// - Parameters:
    ///   - wrappedValue: The value until it is changed; it must be valid.
    ///   - category: The first part of the path.
    ///   - collection: The second part.
    ///   - name: The third part.
    ///   - choices: The allowed values, each with its display label.
    ///   - unit: The unit of a number: `pt`, `requests/s`.
    ///   - help: Its purpose, in one line.
    ///   - formerly: The path in earlier versions, `Label/Text/Size`; values that files have for it are taken over.
    ///   - flags: Whether it is secret, is read-only, or needs a restart.
    ///   - registry: The registry; nil is ``TweakRegistry/shared``.
    ///   - fileID: The file of the declaration; leave it out.
    ///   - line: The line of the declaration; leave it out.
    @inlinable
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        choices: KeyValuePairs<Value, String>, unit: String? = nil, help: String? = nil, formerly: String? = nil,
        flags: TweakFlags = [], registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self = registry.declared(
            category, collection, name, wrappedValue,
            .labeled(choices, unit: unit, help: help, formerly: formerly, flags: flags),
            TweakSource(fileID: fileID, line: line))
    }
}
