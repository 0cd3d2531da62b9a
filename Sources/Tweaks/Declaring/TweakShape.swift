// Builds the definition of a tweak from the attributes of its declaration.

/// The attributes of a declaration beyond path and default; each public form of declaration creates one.
@usableFromInline
struct TweakShape<Value: TweakStorable>: Sendable {
    var info: DeclarationInfo
    /// Nil where the declaration lists none.
    var choices: [TweakChoice<Value>]?
    /// Nil where the type alone determines the untyped value.
    var relative: RelativeConversion<Value>?

    /// Any kind, optionally with a closed list.
    @usableFromInline
    @_semantics("optimize.sil.specialize.generic.never")
    static func plain(
        choices: [Value]?, maxLength: Int?, validate: (@Sendable (String) -> String?)?, step: Value?, unit: String?,
        policy: TweakPolicy, help: String?, formerly: String?, flags: TweakFlags
    ) -> Self {
        Self(
            info: DeclarationInfo(
                step: step?.tweakErased, maxLength: maxLength, validate: validate, policy: policy, unit: unit,
                help: help, formerly: formerly, flags: flags),
            choices: choices.map { $0.map { Self.choice($0, nil) } })
    }

    /// A closed list with labels.
    @usableFromInline
    @_semantics("optimize.sil.specialize.generic.never")
    static func labeled(
        _ choices: KeyValuePairs<Value, String>, unit: String?, help: String?, formerly: String?, flags: TweakFlags
    ) -> Self {
        Self(
            info: DeclarationInfo(unit: unit, help: help, formerly: formerly, flags: flags),
            choices: choices.map { Self.choice($0.key, $0.value) })
    }

    private static func choice(_ value: Value, _ label: String?) -> TweakChoice<Value> {
        TweakChoice(value, name: value.tweakErased.choiceName, label: label)
    }

    /// A range, optionally with a step.
    @usableFromInline
    @_semantics("optimize.sil.specialize.generic.never")
    static func range(
        _ range: some TweakBounds<Value>, step: Value?, scale: TweakScale?, unit: String?, policy: TweakPolicy,
        help: String?, formerly: String?, flags: TweakFlags
    ) -> Self {
        bounded(
            lower: range.tweakLowerBound, upper: range.tweakUpperBound, step: step, scale: scale, unit: unit,
            policy: policy, help: help, formerly: formerly, flags: flags)
    }

    @_semantics("optimize.sil.specialize.generic.never")
    static func bounded(
        lower: Value?, upper: Value?, step: Value?, scale: TweakScale?, unit: String?, policy: TweakPolicy,
        help: String?, formerly: String?, flags: TweakFlags
    ) -> Self {
        Self(
            info: DeclarationInfo(
                lower: lower?.tweakErased, upper: upper?.tweakErased, step: step?.tweakErased, scale: scale,
                policy: policy, unit: unit, help: help, formerly: formerly, flags: flags))
    }
}

// MARK: - Lists, optionals and points

extension TweakShape where Value: TweakContainer {
    /// A list or an optional of any values, or of choices.
    static func holding(
        choices: [Value.TweakComponent]?, minLength: Int?, maxLength: Int?, _ info: DeclarationInfo
    ) -> Self {
        var component = DeclarationInfo(of: Value.TweakComponent.self)
        if let choices {
            component.choices = choices.map { TweakChoice($0.erased.choiceName, name: $0.erased.choiceName) }
            // Values of other kinds could not be found by their names.
            if component.kind == nil || component.kind == .string { component.kind = .choice }
        }
        return Self(info: info.holding([component], minLength, maxLength))
    }
}

extension TweakShape where Value: TweakContainer, Value.TweakComponent: TweakBounded {
    /// A list or an optional of values within a range.
    static func holding(
        _ range: some TweakBounds<Value.TweakComponent>, step: Value.TweakComponent?, minLength: Int?, maxLength: Int?,
        _ info: DeclarationInfo
    ) -> Self {
        var component = DeclarationInfo(of: Value.TweakComponent.self)
        component.lower = range.tweakLowerBound?.erased
        component.upper = range.tweakUpperBound?.erased
        component.step = step?.erased
        return Self(info: info.holding([component], minLength, maxLength))
    }
}

extension TweakShape where Value: TweakPointConvertible {
    /// A point with a range for each number, and an optional step.
    static func point(_ range: TweakPointRange, step: Double?, _ info: DeclarationInfo) -> Self {
        let components = [range.x, range.y].map { range in
            DeclarationInfo(
                kind: .number, lower: range.lowerBound?.erased, upper: range.upperBound?.erased, step: step?.erased)
        }
        return Self(info: info.holding(components, nil, nil))
    }
}

// MARK: - Numbers in the unit of their default

/// Converts values whose type alone does not determine the number: a measurement has any unit.
package final class RelativeConversion<Value: TweakStorable>: Sendable {
    let typed: @Sendable (TweakValue) -> Value?
    let erased: @Sendable (Value) -> TweakValue

    package init(typed: @escaping @Sendable (TweakValue) -> Value?, erased: @escaping @Sendable (Value) -> TweakValue) {
        self.typed = typed
        self.erased = erased
    }
}

/// The attributes of a number whose type converts it to the unit of the default, as a measurement.
package final class RelativeNumber<Value: TweakStorable>: Sendable {
    fileprivate let shape: TweakShape<Value>

    /// - Parameters:
    ///   - bounds: Both in the default's unit, like the step.
    ///   - unit: The symbol of that unit.
    package init(
        _ conversion: RelativeConversion<Value>, bounds: (lower: Value?, upper: Value?), step: Value?,
        scale: TweakScale?, unit: String, policy: TweakPolicy, help: String?, formerly: String?, flags: TweakFlags
    ) {
        var shape = TweakShape<Value>.bounded(
            lower: bounds.lower, upper: bounds.upper, step: step, scale: scale, unit: unit, policy: policy, help: help,
            formerly: formerly, flags: flags)
        shape.relative = conversion
        self.shape = shape
    }
}

extension Tweak {
    /// Declares a number in the unit of its default; an invalid declaration stops the program.
    package init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        _ number: RelativeNumber<Value>, registry: TweakRegistry?, fileID: StaticString, line: UInt
    ) {
        self = registry.declared(
            category, collection, name, defaultValue, .described(number.shape), TweakSource(fileID: fileID, line: line))
    }
}

extension TweakRegistry {
    /// Registers a number in the unit of its default; an invalid declaration throws.
    package func register<Value>(
        _ path: TweakPath, _ defaultValue: Value, _ number: RelativeNumber<Value>, fileID: StaticString, line: UInt
    ) throws(TweakError) -> Tweak<Value> {
        try declare(path, defaultValue, number.shape, TweakSource(fileID: fileID, line: line))
    }
}

// MARK: - The definition

extension TweakShape {
    /// The untyped definition, checked for consistency.
    @_semantics("optimize.sil.specialize.generic.never")
    func definition(default standard: Value, path: TweakPath) throws(TweakError) -> TweakDefinition {
        let erased = standard.tweakErased
        var info = info
        info.kind = erased.kind
        if let container = standard as? any TweakContainer {
            info.adoptComponent(of: container)
            // An empty list knows its kind; an optional without a value does not.
            info.kind = Value.tweakKind ?? erased.kind
        } else if choices == nil {
            info.noteCases(of: standard)
        }
        return try definition(info, default: erased, path)
    }

    /// The same without a default.
    @_semantics("optimize.sil.specialize.generic.never")
    func definition(_ kind: TweakKind, path: TweakPath) throws(TweakError) -> TweakDefinition {
        var info = info
        info.kind = kind
        return try definition(info, default: nil, path)
    }

    @_semantics("optimize.sil.specialize.generic.never")
    private func definition(
        _ info: DeclarationInfo, default standard: TweakValue?, _ path: TweakPath
    ) throws(TweakError) -> TweakDefinition {
        var info = info
        info.typeBounds = Value.tweakTypeBounds
        info.format = TextFormat(of: Value.self)
        info.adopt(choices?.map(\.named), Value.tweakChoices.map(\.named))
        return try info.definition(default: standard, path)
    }
}

extension TweakChoice {
    /// The choice with its name as the value.
    fileprivate var named: TweakChoice<String> { TweakChoice<String>(name, name: name, label: label) }
}

/// The attributes of a declaration, or of a part of its value, without the type of the values.
struct DeclarationInfo: Sendable {
    /// Nil if only a value determines it.
    var kind: TweakKind?
    /// Nil if any value is allowed.
    var choices: [TweakChoice<String>]?
    var lower: TweakValue?
    var upper: TweakValue?
    var step: TweakValue?
    var typeBounds: (lower: TweakValue?, upper: TweakValue?) = (nil, nil)
    /// Nil if it follows from the range.
    var scale: TweakScale?
    var minLength: Int?
    var maxLength: Int?
    var validate: (@Sendable (String) -> String?)?
    var format: TextFormat?
    var policy: TweakPolicy = .reject
    var unit: String?
    var help: String?
    /// The path in earlier versions of the program.
    var formerly: String?
    var flags: TweakFlags = []
    /// A list's elements, an optional's value, or the two numbers of a point.
    var components: [DeclarationInfo] = []
    /// The type of the default, if it is an enumeration that does not list its cases.
    var unlisted: String?
}

extension DeclarationInfo {
    /// The attributes of all values of a type.
    fileprivate init<Value: TweakConvertible>(of type: Value.Type) {
        self.init(kind: Value.tweakKind, typeBounds: Value.tweakTypeBounds, format: TextFormat(of: type))
        adopt(nil, Value.tweakChoices.map(\.named))
    }

    /// Adopts the declared choices, or else those of the type, if it has any.
    fileprivate mutating func adopt(_ declared: [TweakChoice<String>]?, _ ofType: [TweakChoice<String>]) {
        choices = declared ?? (ofType.isEmpty ? nil : ofType)
        if choices != nil { kind = .choice }
    }

    fileprivate func holding(_ components: [DeclarationInfo], _ minLength: Int?, _ maxLength: Int?) -> Self {
        var info = self
        info.components = components
        info.minLength = minLength
        info.maxLength = maxLength
        return info
    }

    /// Derives the component from the default, if the declaration does not specify it.
    fileprivate mutating func adoptComponent<Container: TweakContainer>(of container: Container) {
        if components.isEmpty { components = [DeclarationInfo(of: Container.TweakComponent.self)] }
        guard let first = container.tweakComponents.first else { return }
        if components[0].kind == nil { components[0].kind = first.erased.kind }
        if components[0].choices == nil { noteCases(of: first) }
    }

    /// Notes the type of a value that is a case of an enumeration which lists its cases nowhere, and is stored as its raw
    /// value: any would be accepted, and then not fit. An enumeration with a conversion of its own knows what fits.
    fileprivate mutating func noteCases<Value: TweakStorable>(of value: Value) {
        guard let raw = (value as? any RawRepresentable)?.rawValue as? any TweakStorable, !(value is any CaseIterable),
            Value.tweakChoices.isEmpty, value.tweakErased == raw.tweakErased,
            Mirror(reflecting: value).displayStyle == .enum
        else { return }
        unlisted = "\(Value.self)"
    }

    /// The definition, checked for consistency.
    fileprivate func definition(
        default standard: TweakValue?, _ path: TweakPath
    ) throws(TweakError) -> TweakDefinition {
        guard let kind else {
            throw path.refusal(.usage, "the kind of its values is unknown; declare tweakKind in their type")
        }
        if let problem = problem(of: kind) { throw path.refusal(.usage, problem) }
        let limits = try TweakLimits(self, kind, default: standard, path)
        var parts: [TweakDefinition] = []
        for (position, component) in components.enumerated() {
            if let problem = component.problem(in: kind) { throw path.refusal(.usage, problem) }
            var part = component
            // The numbers of lists and points have no sliders.
            part.scale = scale ?? (kind == .optional ? nil : .linear)
            part.policy = policy
            // Each number may be typed with it.
            part.unit = unit
            part.flags = flags
            parts.append(try part.definition(default: standard?.component(position), path))
        }
        let definition = TweakDefinition(
            kind: kind, limits: limits, scale: scale ?? parts.first?.scale ?? naturalScale(kind, default: standard),
            choices: choices ?? [], minLength: minLength, maxLength: maxLength,
            validate: validate, format: kind == .string ? format : nil, policy: policy,
            unit: unit, help: help, flags: flags,
            components: parts)
        try definition.checkTexts(path)
        return definition
    }

    /// The scale of a declaration without one: logarithmic if more than three powers of ten lie between the smallest
    /// number that matters and the bound that is farther from 0. If 0 is in the range, the smallest one is the step, a
    /// tenth of the default, or 1 for integers, whichever is largest.
    private func naturalScale(_ kind: TweakKind, default standard: TweakValue?) -> TweakScale {
        // A secret's scale would tell of its default. A figure is looked at, not set.
        guard let lower = lower?.size, let upper = upper?.size, flags.isDisjoint(with: [.secret, .readOnly]) else {
            return .linear
        }
        let largest = max(lower.magnitude, upper.magnitude)
        let smallest =
            lower > 0 || upper < 0
            ? min(lower.magnitude, upper.magnitude)
            : max(step?.size ?? 0, (standard?.size ?? 0).magnitude / 10, kind == .int ? 1 : 0)
        return smallest > 0 && largest / smallest > 1_000 ? .logarithmic : .linear
    }

    /// The reason why this kind does not support an attribute; nil if it supports all.
    private func problem(of kind: TweakKind) -> String? {
        if choices?.isEmpty == true {
            // Any value would be valid, which a list that was computed, and is empty, does not mean.
            "the list of choices is empty; name at least one, or leave choices out to allow any value"
        } else if let unlisted {
            "the enumeration \(unlisted) does not list its cases; add CaseIterable to \(unlisted), or give choices"
        } else if step != nil, ![.int, .number, .duration].contains(kind) {
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
        } else if scale == .logarithmic, lower == nil || upper == nil {
            "a logarithmic scale needs a range with both bounds"
        } else {
            nil
        }
    }

    /// The reason why a value of another kind cannot hold this one; nil if it can.
    private func problem(in whole: TweakKind) -> String? {
        let choices = choices ?? []
        if kind == .point, whole == .list { return "a list cannot contain points; declare a list of numbers" }
        if !choices.isEmpty, kind != .choice { return "choices in a list or an optional are for texts" }
        let isAmbiguous = whole == .optional && choices.contains { $0.name == OptionalKind.none }
        return isAmbiguous ? "“none” stands for no value; give that choice another name" : nil
    }
}

extension TweakLimits {
    fileprivate init(
        _ info: DeclarationInfo, _ kind: TweakKind, default standard: TweakValue?, _ path: TweakPath
    ) throws(TweakError) {
        let lower = info.lower ?? info.typeBounds.lower
        let upper = info.upper ?? info.typeBounds.upper
        for case let bound? in [lower, upper, info.step] where bound.whole == nil && bound.real == nil {
            throw path.refusal(.usage, "bounds and step must be whole nanoseconds in 64 bits")
        }
        // A secret has no step: rejections would reveal the value that steps are counted from.
        let step = info.flags.contains(.secret) ? nil : info.step
        let standard = step == nil ? nil : standard
        switch kind {
        case _ where lower == nil && upper == nil && info.step == nil: self = .none
        case .int, .duration:
            self = .whole(lower: lower?.whole, upper: upper?.whole, step: step?.whole, default: standard?.whole)
        case .number:
            self = .real(lower: lower?.real, upper: upper?.real, step: step?.real, default: standard?.real)
        default: self = .none
        }
        if let problem { throw path.refusal(.usage, problem) }
    }

    /// The reason why no value, or any value, would be within these limits.
    private var problem: String? {
        let emptyRange = "the range is empty; its lower bound must not be above its upper bound"
        switch self {
        case .none: break
        case .whole(let lower, let upper, let step, _):
            if let lower, let upper, lower > upper { return emptyRange }
            if let step, step <= 0 { return "a step must be above 0" }
        case .real(let lower, let upper, let step, _):
            let isFinite = [lower, upper, step].allSatisfy { $0?.isFinite ?? true }
            if !isFinite || step ?? 1 <= 0 { return "bounds must be finite, a step above 0" }
            if let lower, let upper, lower > upper { return emptyRange }
        }
        return nil
    }
}

extension TweakValue {
    fileprivate var real: Double? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number, of a duration its nanoseconds.
    fileprivate var size: Double? { whole.map { Double($0) } ?? real }

    /// The default of a component, which steps are counted from; nil for the elements of a list.
    fileprivate func component(_ position: Int) -> TweakValue? {
        switch self {
        case .point(let point): .number(position == 0 ? point.x : point.y)
        case .list, .notSet: nil
        default: self
        }
    }
}
