// Declares the arguments of actions, and validates those of calls from code, the wire and HTTP.

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
        self.name = name
        self.kind = kind
        self.defaultValue = defaultValue
        help = shape.info.help
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

/// The arguments that an action declares.
package struct ActionSignature: Sendable {
    /// A declared argument.
    package struct Parameter: Sendable {
        package let name: String
        package let definition: TweakDefinition
        /// The value when the argument is omitted; nil: it is required.
        package let defaultValue: TweakValue?
    }

    package let parameters: [Parameter]
    private let path: TweakPath

    /// - Throws: `usage` if the declaration is invalid.
    init(_ declared: [TweakParameter], _ path: TweakPath) throws(TweakError) {
        var parameters: [Parameter] = []
        for parameter in declared {
            _ = try TweakPath("action", "argument", parameter.name)
            let definition = try parameter.definition(path)
            try definition.checkTexts(path)
            if definition.kind == .choice, definition.choices.isEmpty {
                throw path.refusal(.usage, "\(parameter.name) has no choices; list them")
            }
            let previous = parameters.last
            if parameters.contains(where: { $0.name == parameter.name }) {
                throw path.refusal(.usage, "two arguments have the name \(parameter.name)")
            }
            if let previous, previous.defaultValue != nil, parameter.defaultValue == nil {
                throw path.refusal(
                    .usage, "\(parameter.name) has no default, but \(previous.name) before it has one; swap them")
            }
            if let value = parameter.defaultValue {
                do {
                    _ = try definition.validate(value, for: path)
                } catch {
                    throw TweakError(error.code, "the default of \(parameter.name): \(error.message)", path: path)
                }
            }
            parameters.append(
                Parameter(name: parameter.name, definition: definition, defaultValue: parameter.defaultValue))
        }
        self.parameters = parameters
        self.path = path
    }

    /// `FILE [VOLUME]`.
    package var usage: String { parameters.map(\.usage).joined(separator: " ") }

    /// Parses and validates the arguments of a call, and fills in defaults.
    /// - Throws: `usage` for too many or too few arguments; else the validation error of a value. The message names the
    ///   argument and the usage.
    func check(_ texts: [String]) throws(TweakError) -> TweakArguments {
        if texts.count > parameters.count {
            let limit =
                parameters.isEmpty ? "no arguments" : "at most \(parameters.count), but \(texts.count) were given"
            throw refusal(.usage, "takes \(limit)")
        }
        var arguments: [TweakArguments.Argument] = []
        for (position, parameter) in parameters.enumerated() {
            let text = texts.indices.contains(position) ? texts[position] : nil
            arguments.append(try check(text, parameter))
        }
        return TweakArguments(arguments, path)
    }

    private func check(_ text: String?, _ parameter: Parameter) throws(TweakError) -> TweakArguments.Argument {
        guard let text else {
            guard let value = parameter.defaultValue else { throw refusal(.usage, "\(parameter.name) is missing") }
            return .init(name: parameter.name, text: value.choiceName, value: value)
        }
        let definition = parameter.definition
        do throws(TweakError) {
            let read = try definition.read(text, from: .typed, default: parameter.defaultValue, for: path)
            let value = try definition.validate(read, for: path).value
            return .init(name: parameter.name, text: text, value: value)
        } catch {
            // The message names the action's path as a tweak; replace that by the argument's name.
            let (token, text) = (path.token, error.message)
            let rest = text.hasPrefix(token) ? String(text.dropFirst(token.count)) : " \(text)"
            throw refusal(error.code, parameter.name + rest)
        }
    }

    private func refusal(_ code: TweakError.Code, _ text: String) -> TweakError {
        let call = ["run", path.token, usage].filter { !$0.isEmpty }.joined(separator: " ")
        return path.refusal(code, "\(text); use: \(call)")
    }
}

extension ActionSignature.Parameter {
    /// `FILE`, or `[VOLUME]` for an optional argument.
    fileprivate var usage: String {
        let word = name.uppercased().split(separator: " ").joined(separator: "-")
        return defaultValue == nil ? word : "[\(word)]"
    }

    /// `FILE string`, `[VOLUME] number 0...1 default 0.5`.
    package var summary: String {
        "\(usage) \(definition.summary)" + (defaultValue.map { " default \($0.text)" } ?? "")
    }
}

extension TweakNode {
    /// The declared arguments of an action; nil if it accepts any, and for a value.
    package var signature: ActionSignature? { runner?.signature }
}

/// The arguments of a call, in order and without quotes; declared arguments can also be looked up by name.
public struct TweakArguments: RandomAccessCollection, Sendable {
    struct Argument: Sendable {
        let name: String
        let text: String
        let value: TweakValue
    }

    private let texts: [String]
    /// The declared ones.
    private let declared: [Argument]
    private let path: TweakPath?

    /// Arguments from texts.
    public init(_ texts: [String]) { (self.texts, declared, path) = (texts, [], nil) }

    init(_ declared: [Argument], _ path: TweakPath) {
        (texts, self.declared, self.path) = (declared.map(\.text), declared, path)
    }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of arguments, including defaults.
    public var endIndex: Int { texts.count }
    /// The argument at a position, as typed. Traps if there is none; `first` and `dropFirst` do not.
    public subscript(position: Int) -> String { texts[position] }

    /// A declared argument, validated and converted; its default if the caller omitted it.
    ///
    /// ```swift
    /// let volume: Double = try arguments["volume"]
    /// let mode = try arguments["mode", as: Mode.self]
    /// ```
    /// - Throws: ``TweakError`` with code `internal` when the action declares no argument of this name, or one of
    ///   another type.
    public subscript<Value: TweakConvertible>(name: String, as type: Value.Type = Value.self) -> Value {
        get throws(TweakError) {
            let subject = path.map { "\($0.token): " } ?? ""
            guard let argument = declared.first(where: { $0.name == name }) else {
                throw TweakError(
                    .internal, "\(subject)there is no argument \(Quoting.excerpt(name)); declare it in arguments:",
                    path: path)
            }
            guard let value = Value(argument.value) else {
                throw TweakError(
                    .internal,
                    "\(subject)the argument \(name) is \(argument.value.kind.phrase), not a \(Value.self); "
                        + "declare it with that type", path: path)
            }
            return value
        }
    }
}
