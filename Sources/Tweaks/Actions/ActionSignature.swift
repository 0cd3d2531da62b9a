// Validates the arguments of an action, for calls from code, the wire and HTTP.

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
                throw TweakError(.usage, "\(path.token): \(parameter.name) has no choices; list them", path: path)
            }
            let previous = parameters.last
            if parameters.contains(where: { $0.name == parameter.name }) {
                throw TweakError(.usage, "\(path.token): two arguments have the name \(parameter.name)", path: path)
            }
            if let previous, previous.defaultValue != nil, parameter.defaultValue == nil {
                throw TweakError(
                    .usage,
                    "\(path.token): \(parameter.name) has no default, but \(previous.name) before it has one; "
                        + "swap them", path: path)
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
        (self.parameters, self.path) = (parameters, path)
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
        return TweakError(code, "\(path.token): \(text); use: \(call)", path: path)
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
