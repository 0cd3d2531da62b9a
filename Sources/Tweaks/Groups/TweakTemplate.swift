// Declares the template protocol: a structure that lists its parts, each of which becomes a tweak.

/// A value composed of several tweaks; ``TweakGroup`` declares them and assembles the value.
///
/// A structure becomes a template by listing its parts. Their defaults come from the value that declares a group.
///
/// ```swift
/// struct Pool: TweakTemplate {
///     var connections = 8
///     var idle = Duration.seconds(30)
///
///     static let parts: [TweakPart<Pool>] = [
///         TweakPart("connections", \.connections, in: 1...256, help: "Maximum number of open connections"),
///         TweakPart("idle time", \.idle, in: .zero ... .seconds(600), help: "Unused ones are closed after this"),
///     ]
/// }
///
/// static let pool = TweakGroup("Database", "Pool", Pool(connections: 16))
/// ```
public protocol TweakTemplate: Equatable, Sendable {
    /// The parts, in the order in which they are declared. Make it a `static let`.
    static var parts: [TweakPart<Self>] { get }
    /// The name by which clients know the template, in lower case; a page may have an editor for it.
    static var templateName: String { get }
}

extension TweakTemplate {
    /// The name of the type without `Tweak`, in words: `spring` of `TweakSpring`, `rate limit` of `TweakRateLimit`.
    public static var templateName: String { String(describing: Self.self).asTemplateName }
}

extension String {
    // Not generic, and not inlined: one copy serves all templates.
    @inline(never)
    fileprivate var asTemplateName: String {
        var bytes: [UInt8] = []
        var isInWord = false
        // Without the parameters of a generic type.
        for byte in utf8.prefix(while: { $0 != UInt8(ascii: "<") }) {
            let isCapital = byte &- UInt8(ascii: "A") < 26
            if isCapital, isInWord { bytes.append(UInt8(ascii: " ")) }
            isInWord = !isCapital
            bytes.append(byte)
        }
        let words = String(decoding: bytes, as: UTF8.self).lowercased()
        return words.hasPrefix("tweak ") ? String(words.dropFirst(6)) : words
    }
}

/// One part of a ``TweakTemplate``: a property, and the attributes of its tweak.
///
/// Write the name in lower case: `base delay`. It is capitalized when it stands alone, as in
/// `Upstream/Payments/Base delay`; in a group with a name it follows that name, as in `Label/Text/Shadow radius`.
public struct TweakPart<Template>: Sendable {
    let declare: @Sendable (_ place: GroupLocation, _ defaults: Template) -> DeclaredPart<Template>

    /// A part of any kind; with `choices`, one of those values.
    ///
    /// `name` is its name in lower case, `property` the template's property; the other parameters are
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
    /// `name` is its name in lower case, `property` the template's property; the other parameters are
    /// those of the initializers of ``Tweak``.
    public init<Value: TweakBounded>(
        _ name: String, _ property: any WritableKeyPath<Template, Value> & Sendable, in range: some TweakBounds<Value>,
        step: Value? = nil, scale: TweakScale? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
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
        _ name: String, _ property: any WritableKeyPath<Template, Value> & Sendable, _ shape: DeclaredShape<Value>,
        _ flags: TweakFlags
    ) {
        precondition(!flags.contains(.readOnly), "Tweaks: the part \(name) cannot be read-only; a group can be set")
        declare = { place, defaults in
            DeclaredPart(place.declared(name, defaults[keyPath: property], shape), property)
        }
    }
}

/// The registry, path prefix and source location that a group's parts are declared with.
struct GroupLocation: Sendable {
    let category: String
    let collection: String
    /// The prefix of the parts' names.
    let prefix: String?
    let registry: TweakRegistry?
    let source: TweakSource
    /// The name of the template.
    let template: String

    /// The name of a part's tweak.
    func name(_ part: String) -> String {
        prefix.map { "\($0) \(part)" } ?? part.prefix(1).uppercased() + part.dropFirst()
    }

    private var path: String { "\(category)/\(collection)" + (prefix.map { "/\($0)" } ?? "") }

    /// Declares the tweak of a part.
    @_semantics("optimize.sil.specialize.generic.never")
    fileprivate func declared<Value>(_ part: String, _ value: Value, _ shape: DeclaredShape<Value>) -> Tweak<Value> {
        #if Frozen
            registry.declared(category, collection, name(part), value, shape, source)
        #else
            (registry ?? .shared).declared(
                category, collection, name(part), value, shape, source, TemplateRole(template, of: path, part))
        #endif
    }
}

/// The part that a tweak is in a group's value.
package final class TemplateRole: Sendable {
    /// The name of the template.
    package let template: String
    /// The path of the group: category, collection, and its name if it has one.
    package let path: String
    /// The name of the part, in lower case.
    package let part: String

    init(_ template: String, of path: String, _ part: String) {
        self.template = template
        self.path = path
        self.part = part
    }
}

/// A part with a declared tweak; the type of its value is erased.
struct DeclaredPart<Template>: Sendable {
    let erased: @Sendable () -> AnyTweak
    /// Writes the part's value to the template.
    let read: @Sendable (Prepared, inout Template) -> Void
    /// Adds a set of the part, to the template's value, to a batch.
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
