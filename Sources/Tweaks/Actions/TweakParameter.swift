// Declares an argument of an action, so that clients can prompt for it and the library can validate it.

/// An argument of an action: its name, kind and limits.
///
/// ```swift
/// tweakAction("Player", "Audio", "Play", arguments: [
///     .init("file", .string, help: "Path of the sound"),
///     .init("volume", .number, in: 0...1, default: 0.5),
/// ]) { arguments in
///     try await player.play(arguments["file"], volume: arguments["volume"])
/// }
/// ```
///
/// An argument with a default may be omitted, together with all that follow it.
public struct TweakParameter: Sendable {
    /// The kind of an argument, with its Swift type: `.number` is a `Double`.
    public struct Kind<Value: TweakConvertible>: Sendable {
        let kind: TweakKind
    }

    /// The name: 1–128 bytes without `/`, control, invisible or bidirectional characters, unique in the action.
    public let name: String
    /// The kind of its values.
    public let kind: TweakKind
    /// The value when the caller omits it; nil: it is required.
    public let defaultValue: TweakValue?
    /// One line that describes it.
    public let help: String?
    let definition: @Sendable (TweakPath) throws(TweakError) -> TweakDefinition

    /// An argument of any kind except a choice.
    /// - Parameters:
    ///   - name: The name.
    ///   - kind: `.bool`, `.int`, `.number`, `.string`, `.color` or `.duration`.
    ///   - defaultValue: The value when it is omitted; nil: it is required.
    ///   - help: One line that describes it.
    public init<Value: TweakConvertible>(
        _ name: String, _ kind: Kind<Value>, default defaultValue: Value? = nil, help: String? = nil
    ) {
        self.init(name, kind.kind, TweakShape<Value>(info: DeclarationInfo(help: help)), defaultValue?.erased)
    }

    /// A number or duration within a range: `0...10`, `0...` or `...10`.
    /// - Parameters:
    ///   - name: The name.
    ///   - kind: `.int`, `.number` or `.duration`.
    ///   - range: The values accepted, bounds included.
    ///   - defaultValue: The value when it is omitted; nil: it is required.
    ///   - help: One line that describes it.
    public init<Value: TweakBounded>(
        _ name: String, _ kind: Kind<Value>, in range: some TweakBounds<Value>, default defaultValue: Value? = nil,
        help: String? = nil
    ) {
        let shape = TweakShape<Value>.range(
            range, step: nil, scale: .linear, unit: nil, policy: .reject, help: help, formerly: nil, flags: [])
        self.init(name, kind.kind, shape, defaultValue?.erased)
    }

    /// A duration within a range; this overload makes `.zero ... .seconds(5)` type-check.
    /// - Parameters:
    ///   - name: The name.
    ///   - kind: `.duration`.
    ///   - range: The values accepted, bounds included.
    ///   - defaultValue: The value when it is omitted; nil: it is required.
    ///   - help: One line that describes it.
    public init(
        _ name: String, _ kind: Kind<Duration>, in range: ClosedRange<Duration>, default defaultValue: Duration? = nil,
        help: String? = nil
    ) {
        let shape = TweakShape<Duration>.range(
            range, step: nil, scale: .linear, unit: nil, policy: .reject, help: help, formerly: nil, flags: [])
        self.init(name, .duration, shape, defaultValue?.erased)
    }

    /// One of several strings.
    /// - Parameters:
    ///   - name: The name.
    ///   - choices: The accepted strings.
    ///   - defaultValue: The value when it is omitted; nil: it is required.
    ///   - help: One line that describes it.
    public init(_ name: String, choices: [String], default defaultValue: String? = nil, help: String? = nil) {
        // Without choices, the action's own error names the argument.
        let shape = TweakShape<String>(
            info: DeclarationInfo(help: help),
            choices: choices.isEmpty ? nil : choices.map { TweakChoice($0, name: $0) })
        self.init(name, .choice, shape, defaultValue.map { .choice($0) })
    }

    /// A case of an enumeration.
    /// - Parameters:
    ///   - name: The name.
    ///   - choices: The enumeration: `Mode.self`.
    ///   - defaultValue: The value when it is omitted; nil: it is required.
    ///   - help: One line that describes it.
    public init<Value: TweakConvertible & CaseIterable>(
        _ name: String, choices: Value.Type, default defaultValue: Value? = nil, help: String? = nil
    ) {
        let shape = TweakShape<Value>(info: DeclarationInfo(help: help))
        self.init(name, .choice, shape, defaultValue.map { .choice($0.erased.choiceName) })
    }

    private init<Value>(_ name: String, _ kind: TweakKind, _ shape: TweakShape<Value>, _ defaultValue: TweakValue?) {
        (self.name, self.kind, self.defaultValue, help) = (name, kind, defaultValue, shape.info.help)
        definition = { path throws(TweakError) in try shape.definition(kind, path: path) }
    }
}

extension TweakParameter.Kind where Value == Bool {
    /// `true` or `false`.
    public static var bool: Self { Self(kind: .bool) }
}

extension TweakParameter.Kind where Value == Int {
    /// An integer.
    public static var int: Self { Self(kind: .int) }
}

extension TweakParameter.Kind where Value == Double {
    /// A finite double.
    public static var number: Self { Self(kind: .number) }
}

extension TweakParameter.Kind where Value == String {
    /// A string.
    public static var string: Self { Self(kind: .string) }
}

extension TweakParameter.Kind where Value == TweakColor {
    /// A color.
    public static var color: Self { Self(kind: .color) }
}

extension TweakParameter.Kind where Value == Duration {
    /// A duration.
    public static var duration: Self { Self(kind: .duration) }
}
