// Checks the arguments of an action: the one place for code, the wire and HTTP.

/// The arguments that an action declares.
package struct ActionSignature: Sendable {
    /// One of them.
    package struct Parameter: Sendable {
        package let name: String
        package let definition: TweakDefinition
        /// What is passed where it is left out; nil: it must be there.
        package let defaultValue: TweakValue?
    }

    package let parameters: [Parameter]
    private let path: TweakPath

    /// - Throws: `usage` where the declaration cannot be right.
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
                throw TweakError(.usage, "\(path.token): two arguments are called \(parameter.name)", path: path)
            }
            if let previous, previous.defaultValue != nil, parameter.defaultValue == nil {
                throw TweakError(
                    .usage,
                    "\(path.token): \(parameter.name) has no default, and \(previous.name) in front of it has one; "
                        + "exchange them", path: path)
            }
            if let value = parameter.defaultValue {
                do {
                    _ = try definition.judge(value, for: path)
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

    /// Reads and judges what a caller wrote, and fills in defaults.
    /// - Throws: `usage` for too many or too few; else what a value of that kind is refused with. Each says which
    ///   argument it is about, and how to call the action.
    func check(_ texts: [String]) throws(TweakError) -> TweakArguments {
        if texts.count > parameters.count {
            let most = parameters.isEmpty ? "no arguments" : "at most \(parameters.count), and here are \(texts.count)"
            throw refusal(.usage, "takes \(most)")
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
            let read = try definition.read(text, from: .person, default: parameter.defaultValue, for: path)
            let value = try definition.judge(read, for: path).value
            return .init(name: parameter.name, text: text, value: value)
        } catch {
            // It speaks of the action as of a tweak: of the argument it is meant.
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
    /// `FILE`, or `[VOLUME]` where it may be left out.
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
    /// The arguments that an action declares; nil for one that takes any, and for a value.
    package var signature: ActionSignature? { runner?.signature }
}
