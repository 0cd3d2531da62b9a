// What makes a structure a template: a list of its parts, each of which becomes a tweak.

/// A value that is made of several tweaks; ``TweakGroup`` declares them and puts it together.
///
/// A structure becomes one by naming its parts. Their defaults are those of the value that a group is declared with.
///
/// ```swift
/// struct Pool: TweakTemplate {
///     var connections = 8
///     var idle = Duration.seconds(30)
///
///     static let parts: [TweakPart<Pool>] = [
///         TweakPart("connections", \.connections, in: 1...256, help: "How many are kept open at most"),
///         TweakPart("idle time", \.idle, in: .zero ... .seconds(600), help: "When an unused one is closed"),
///     ]
/// }
///
/// static let pool = TweakGroup("Database", "Pool", Pool(connections: 16))
/// ```
public protocol TweakTemplate: Equatable, Sendable {
    /// The parts, in the order in which they are declared. Make it a `static let`.
    static var parts: [TweakPart<Self>] { get }
}

/// One part of a ``TweakTemplate``: a property, and what a declaration of its tweak says.
///
/// The name is written as it stands within a sentence: `base delay`. Alone it begins with a capital, as in
/// `Upstream/Payments/Base delay`; in a group with a name it follows that name, as in `Label/Text/Shadow radius`.
public struct TweakPart<Template>: Sendable {
    let declare: @Sendable (_ place: GroupPlace, _ defaults: Template) -> DeclaredPart<Template>

    /// A part of any kind; with `choices`, one of those values.
    ///
    /// `name` is its name in a sentence, `property` the property that it is; the other parameters are
    /// those of the initializers of ``Tweak``.
    public init<Value: TweakConvertible>(
        _ name: String, _ property: any WritableKeyPath<Template, Value> & Sendable, choices: [Value]? = nil,
        maxLength: Int? = nil, validate: (@Sendable (String) -> String?)? = nil, step: Value? = nil,
        unit: String? = nil, policy: TweakPolicy = .reject, help: String? = nil, flags: TweakFlags = []
    ) {
        self.init(
            name, property,
            .plain(
                choices: choices, maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
                help: help, formerly: nil, flags: flags), flags)
    }

    /// A number or duration within a range: `0...10`, `0...` or `...10`.
    ///
    /// `name` is its name in a sentence, `property` the property that it is; the other parameters are
    /// those of the initializers of ``Tweak``.
    public init<Value: TweakBounded>(
        _ name: String, _ property: any WritableKeyPath<Template, Value> & Sendable, in range: some TweakBounds<Value>,
        step: Value? = nil, scale: TweakScale = .linear, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil, flags: TweakFlags = []
    ) {
        self.init(
            name, property,
            .range(
                range, step: step, scale: scale, unit: unit, policy: policy, help: help, formerly: nil, flags: flags),
            flags)
    }

    @_semantics("optimize.sil.specialize.generic.never")
    private init<Value: TweakStorable>(
        _ name: String, _ property: any WritableKeyPath<Template, Value> & Sendable, _ shape: PartShape<Value>,
        _ flags: TweakFlags
    ) {
        precondition(!flags.contains(.readOnly), "Tweaks: the part \(name) is no figure; a group can be set")
        declare = { place, defaults in
            let tweak = place.registry.declared(
                place.category, place.collection, place.name(name), defaults[keyPath: property], shape, place.source)
            return DeclaredPart(tweak, property)
        }
    }
}

#if Frozen
    private typealias PartShape<Value: TweakStorable> = FrozenShape<Value>
#else
    private typealias PartShape<Value: TweakStorable> = TweakShape<Value>
#endif

/// Where the parts of a group are declared.
struct GroupPlace: Sendable {
    let category: String
    let collection: String
    /// What the names of the parts begin with.
    let prefix: String?
    let registry: TweakRegistry?
    let source: TweakSource

    /// The name of a part's tweak.
    func name(_ part: String) -> String {
        prefix.map { "\($0) \(part)" } ?? part.prefix(1).uppercased() + part.dropFirst()
    }
}

/// A part whose tweak is declared, without the type of its value.
struct DeclaredPart<Template>: Sendable {
    let erased: @Sendable () -> AnyTweak
    /// Writes the part's value to the template.
    let read: @Sendable (Prepared, inout Template) -> Void
    /// Asks for the template's value of the part.
    let set: @Sendable (Template, _ lifetime: Duration?, inout TweakBatch) -> Void

    @_semantics("optimize.sil.specialize.generic.never")
    init<Value>(_ tweak: Tweak<Value>, _ property: any WritableKeyPath<Template, Value> & Sendable) {
        erased = { tweak.erased }
        read = { prepared, template in
            if let value = prepared.typed.value(as: Value.self) { template[keyPath: property] = value }
        }
        set = { template, lifetime, batch in batch.set(tweak, template[keyPath: property], for: lifetime) }
    }
}
