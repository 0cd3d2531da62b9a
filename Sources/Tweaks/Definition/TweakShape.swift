// Converts the attributes of a declaration into the definition of a tweak.

/// The attributes of a declaration beyond path and default; each public declaration form creates one.
@usableFromInline
struct TweakShape<Value: TweakStorable>: Sendable {
    var info = DeclarationInfo()
    /// Nil where the declaration lists none.
    var choices: [TweakChoice<Value>]?

    /// The untyped definition, checked for consistency.
    @_semantics("optimize.sil.specialize.generic.never")
    func definition(default standard: Value, path: TweakPath) throws(TweakError) -> TweakDefinition {
        let erased = standard.tweakErased
        guard let container = standard as? any TweakContainer else {
            return try definition(erased.kind, default: erased, info, path)
        }
        var info = info
        info.adoptComponent(of: container)
        // An empty list knows its kind; an optional without a value does not.
        return try definition(Value.tweakKind ?? erased.kind, default: erased, info, path)
    }

    /// The same without a default.
    @_semantics("optimize.sil.specialize.generic.never")
    func definition(_ kind: TweakKind, path: TweakPath) throws(TweakError) -> TweakDefinition {
        try definition(kind, default: nil, info, path)
    }

    @_semantics("optimize.sil.specialize.generic.never")
    private func definition(
        _ kind: TweakKind, default standard: TweakValue?, _ info: DeclarationInfo, _ path: TweakPath
    ) throws(TweakError) -> TweakDefinition {
        if choices?.isEmpty == true { throw DeclarationInfo.emptyChoices(path) }
        let choices = (choices ?? Value.tweakChoices).map(\.named)
        return try info.definition(
            choices.isEmpty ? kind : .choice, choices, typeBounds: Value.tweakTypeBounds, default: standard, path)
    }
}

extension TweakChoice {
    /// The choice with its name as the value.
    var named: TweakChoice<String> { TweakChoice<String>(name, name: name, label: label) }
}

/// The attributes of a declaration, without the type of its values.
struct DeclarationInfo: Sendable {
    var lower: TweakValue?
    var upper: TweakValue?
    var step: TweakValue?
    var scale: TweakScale = .linear
    var minLength: Int?
    var maxLength: Int?
    var validate: (@Sendable (String) -> String?)?
    var policy: TweakPolicy = .reject
    var unit: String?
    var help: String?
    /// The path in earlier versions of the program.
    var formerly: String?
    var flags: TweakFlags = []
    /// A list's elements, an optional's value, or the two numbers of a point.
    var components: [Component] = []

    /// The attributes of a component.
    struct Component: Sendable {
        /// Nil if only a value determines it.
        var kind: TweakKind?
        var choices: [TweakChoice<String>] = []
        /// The declaration lists choices.
        var isClosed = false
        var lower: TweakValue?
        var upper: TweakValue?
        var step: TweakValue?
        var typeBounds: (lower: TweakValue?, upper: TweakValue?) = (nil, nil)

        init(kind: TweakKind?) { self.kind = kind }

        /// The attributes of all values of a type.
        init<Value: TweakConvertible>(_ type: Value.Type) {
            choices = Value.tweakChoices.map(\.named)
            kind = choices.isEmpty ? Value.tweakKind : .choice
            typeBounds = Value.tweakTypeBounds
        }

        /// The reason why the declaration is invalid; nil if it is valid.
        func problem(in whole: TweakKind) -> String? {
            if kind == .point, whole == .list { return "a list cannot contain points; declare a list of numbers" }
            if !choices.isEmpty, kind != .choice { return "choices in a list or an optional are for texts" }
            let isAmbiguous = whole == .optional && choices.contains { $0.name == OptionalKind.none }
            return isAmbiguous ? "“none” stands for no value; give that choice another name" : nil
        }
    }

    /// Any value would be valid, which a list that was computed, and is empty, does not mean.
    fileprivate static func emptyChoices(_ path: TweakPath) -> TweakError {
        TweakError(
            .usage,
            "\(path.token): the list of choices is empty; name at least one, or leave choices out to allow any value",
            path: path)
    }

    /// Derives the component from the default, if the declaration does not specify it.
    mutating func adoptComponent<Container: TweakContainer>(of container: Container) {
        if components.isEmpty { components = [Component(Container.TweakComponent.self)] }
        if components[0].kind == nil { components[0].kind = container.tweakComponents.first?.erased.kind }
    }

    func definition(
        _ kind: TweakKind, _ choices: [TweakChoice<String>], typeBounds: (lower: TweakValue?, upper: TweakValue?),
        default standard: TweakValue?, _ path: TweakPath
    ) throws(TweakError) -> TweakDefinition {
        try check(kind, path)
        var own = Component(kind: kind)
        (own.lower, own.upper, own.step, own.typeBounds) = (lower, upper, step, typeBounds)
        let definition = TweakDefinition(
            kind: kind, limits: try limits(own, standard, path), scale: scale, choices: choices, minLength: minLength,
            maxLength: maxLength, validate: validate, policy: policy, unit: unit, help: help, flags: flags,
            components: try components(of: kind, standard, path))
        try definition.checkTexts(path)
        return definition
    }

    private func components(
        of whole: TweakKind, _ standard: TweakValue?, _ path: TweakPath
    ) throws(TweakError) -> [TweakDefinition] {
        var definitions: [TweakDefinition] = []
        for (position, component) in components.enumerated() {
            guard let kind = component.kind else {
                throw TweakError(
                    .usage, "\(path.token): the kind of its values is unknown; declare tweakKind in their type",
                    path: path)
            }
            if component.isClosed, component.choices.isEmpty { throw Self.emptyChoices(path) }
            if let problem = component.problem(in: whole) {
                throw TweakError(.usage, "\(path.token): \(problem)", path: path)
            }
            // Components get the unit, too, because each may be typed with it.
            let definition = TweakDefinition(
                kind: kind, limits: try limits(component, standard?.component(position), path), scale: scale,
                choices: component.choices, policy: policy, unit: unit, flags: flags)
            try definition.checkTexts(path)
            definitions.append(definition)
        }
        return definitions
    }

    /// Rejects attributes that this kind does not support.
    private func check(_ kind: TweakKind, _ path: TweakPath) throws(TweakError) {
        let problem: String? =
            if step != nil, ![.int, .number, .duration].contains(kind) {
                "a step is for numbers and durations, and this is \(kind.phrase)"
            } else if maxLength != nil && kind != .list || validate != nil, kind != .string {
                "maxLength and validate are for text, and this is \(kind.phrase)"
            } else if minLength != nil, kind != .list {
                "minLength is for lists, and this is \(kind.phrase)"
            } else if minLength ?? 0 < 0 || maxLength ?? 0 < 0 {
                "minLength and maxLength must not be below 0"
            } else if let minLength, minLength > maxLength ?? ListKind.maxCount {
                "minLength must not be above maxLength"
            } else if maxLength ?? 0 > ListKind.maxCount, kind == .list {
                "a list has at most \(ListKind.maxCount) values"
            } else if scale != .linear, lower == nil || upper == nil {
                "a logarithmic scale needs a range with both bounds"
            } else {
                nil
            }
        if let problem { throw TweakError(.usage, "\(path.token): \(problem)", path: path) }
    }

    private func limits(
        _ part: Component, _ standard: TweakValue?, _ path: TweakPath
    ) throws(TweakError) -> TweakLimits {
        let lower = part.lower ?? part.typeBounds.lower
        let upper = part.upper ?? part.typeBounds.upper
        for case let bound? in [lower, upper, part.step] where bound.whole == nil && bound.real == nil {
            throw TweakError(.usage, "\(path.token): bounds and step must be whole nanoseconds in 64 bits", path: path)
        }
        if lower == nil, upper == nil, part.step == nil { return .none }
        // A secret has no step: rejections would reveal the value that steps are counted from.
        let step = flags.contains(.secret) ? nil : part.step
        let standard = step == nil ? nil : standard
        let limits: TweakLimits =
            switch part.kind {
            case .int?, .duration?:
                .whole(lower: lower?.whole, upper: upper?.whole, step: step?.whole, default: standard?.whole)
            case .number?: .real(lower: lower?.real, upper: upper?.real, step: step?.real, default: standard?.real)
            default: .none
            }
        try limits.check(path)
        return limits
    }
}

extension TweakLimits {
    fileprivate func check(_ path: TweakPath) throws(TweakError) {
        switch self {
        case .none: return
        case .whole(let lower, let upper, let step, _):
            if let lower, let upper, lower > upper { throw Self.emptyRange(path) }
            if let step, step <= 0 { throw TweakError(.usage, "\(path.token): a step must be above 0", path: path) }
        case .real(let lower, let upper, let step, _):
            let isFinite = [lower, upper, step].allSatisfy { $0?.isFinite ?? true }
            if !isFinite || step.map({ $0 <= 0 }) == true {
                throw TweakError(.usage, "\(path.token): bounds must be finite, a step above 0", path: path)
            }
            if let lower, let upper, lower > upper { throw Self.emptyRange(path) }
        }
    }

    private static func emptyRange(_ path: TweakPath) -> TweakError {
        TweakError(
            .usage, "\(path.token): the range is empty; its lower bound must not be above its upper bound", path: path)
    }
}

extension TweakValue {
    fileprivate var real: Double? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The default of a component, which steps are counted from; nil for the elements of a list.
    fileprivate func component(_ position: Int) -> TweakValue? {
        switch self {
        case .point(let point): .number(position == 0 ? point.x : point.y)
        case .list, .notSet: nil
        default: self
        }
    }
}
