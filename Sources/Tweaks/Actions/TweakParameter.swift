// An argument that an action declares, so that clients can ask for it and the library can check it.

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
/// One with a default may be left out; those behind it then, too.
public struct TweakParameter: Sendable {
    /// What an argument holds, as a type of Swift: `.number` is a `Double`.
    public struct Kind<Value: TweakConvertible>: Sendable {
        let kind: TweakKind
    }

    /// What it is called: 1–128 bytes without `/`, control or bidirectional characters, unlike any other of the action.
    public let name: String
    /// What it holds.
    public let kind: TweakKind
    /// What is passed where a caller leaves it out; nil: it must be there.
    public let defaultValue: TweakValue?
    /// What it is for, in a line.
    public let help: String?
    let definition: @Sendable (TweakPath) throws(TweakError) -> TweakDefinition

    /// An argument of any kind but a choice.
    /// - Parameters:
    ///   - name: What it is called.
    ///   - kind: `.bool`, `.int`, `.number`, `.string`, `.color` or `.duration`.
    ///   - defaultValue: What is passed where it is left out; nil: it must be there.
    ///   - help: What it is for, in a line.
    public init<Value: TweakConvertible>(
        _ name: String, _ kind: Kind<Value>, default defaultValue: Value? = nil, help: String? = nil
    ) {
        self.init(name, kind.kind, TweakShape<Value>(facts: DeclaredFacts(help: help)), defaultValue?.erased)
    }

    /// A number or duration within a range: `0...10`, `0...` or `...10`.
    /// - Parameters:
    ///   - name: What it is called.
    ///   - kind: `.int`, `.number` or `.duration`.
    ///   - range: The values accepted, bounds included.
    ///   - defaultValue: What is passed where it is left out; nil: it must be there.
    ///   - help: What it is for, in a line.
    public init<Value: TweakBounded>(
        _ name: String, _ kind: Kind<Value>, in range: some TweakBounds<Value>, default defaultValue: Value? = nil,
        help: String? = nil
    ) {
        let shape = TweakShape<Value>.range(
            range, step: nil, scale: .linear, unit: nil, policy: .reject, help: help, formerly: nil, flags: [])
        self.init(name, kind.kind, shape, defaultValue?.erased)
    }

    /// A duration within a range, so that `.zero ... .seconds(5)` can be written as it is.
    /// - Parameters:
    ///   - name: What it is called.
    ///   - kind: `.duration`.
    ///   - range: The values accepted, bounds included.
    ///   - defaultValue: What is passed where it is left out; nil: it must be there.
    ///   - help: What it is for, in a line.
    public init(
        _ name: String, _ kind: Kind<Duration>, in range: ClosedRange<Duration>, default defaultValue: Duration? = nil,
        help: String? = nil
    ) {
        let shape = TweakShape<Duration>.range(
            range, step: nil, scale: .linear, unit: nil, policy: .reject, help: help, formerly: nil, flags: [])
        self.init(name, .duration, shape, defaultValue?.erased)
    }

    /// One of several texts.
    /// - Parameters:
    ///   - name: What it is called.
    ///   - choices: The texts accepted.
    ///   - defaultValue: What is passed where it is left out; nil: it must be there.
    ///   - help: What it is for, in a line.
    public init(_ name: String, choices: [String], default defaultValue: String? = nil, help: String? = nil) {
        let shape = TweakShape<String>(
            facts: DeclaredFacts(help: help), choices: choices.map { TweakChoice($0, name: $0) })
        self.init(name, .choice, shape, defaultValue.map { .choice($0) })
    }

    /// One of the cases of an enumeration.
    /// - Parameters:
    ///   - name: What it is called.
    ///   - choices: The enumeration: `Mode.self`.
    ///   - defaultValue: What is passed where it is left out; nil: it must be there.
    ///   - help: What it is for, in a line.
    public init<Value: TweakConvertible & CaseIterable>(
        _ name: String, choices: Value.Type, default defaultValue: Value? = nil, help: String? = nil
    ) {
        let shape = TweakShape<Value>(facts: DeclaredFacts(help: help))
        self.init(name, .choice, shape, defaultValue.map { .choice($0.erased.choiceName) })
    }

    private init<Value>(_ name: String, _ kind: TweakKind, _ shape: TweakShape<Value>, _ defaultValue: TweakValue?) {
        (self.name, self.kind, self.defaultValue, help) = (name, kind, defaultValue, shape.facts.help)
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
    /// Text.
    public static var string: Self { Self(kind: .string) }
}

extension TweakParameter.Kind where Value == TweakColor {
    /// A color.
    public static var color: Self { Self(kind: .color) }
}

extension TweakParameter.Kind where Value == Duration {
    /// A span of time.
    public static var duration: Self { Self(kind: .duration) }
}
