// Defines the format of a type's texts, and checks the texts of tweaks against it.

/// The format of the texts of a type, such as URLs; its values are of kind `string`.
///
/// ```swift
/// struct HostName: TweakConvertible {
///     var text: String
///     init?(_ value: TweakValue) {
///         guard case .string(let text) = value, text.contains(".") else { return nil }
///         self.text = text.lowercased()
///     }
///     var erased: TweakValue { .string(text) }
///     static var tweakKind: TweakKind? { .string }
///     static var tweakFormat: TweakFormat? { TweakFormat("hostname", "a host name", example: "db.example.com") }
/// }
/// ```
/// Each text from outside becomes the text of the value that it makes, `db.example.com` for `DB.example.com`; a text that
/// makes none is refused with the noun and the example.
public struct TweakFormat: Sendable {
    /// The name in `describe`, in JSON and for the page, as in JSON Schema: `uri`, `date-time`.
    public let name: String
    /// The name of such a text, with an article: `an absolute URL`.
    public let noun: String
    /// A valid text, for errors.
    public let example: String

    /// A format.
    public init(_ name: String, _ noun: String, example: String) {
        self.name = name
        self.noun = noun
        self.example = example
    }
}

/// A format with the conversion of its type.
package final class TextFormat: Sendable {
    package let format: TweakFormat
    /// The text of the value that a text makes; nil if it makes none.
    private let canonical: @Sendable (String) -> String?

    /// The format of a type; nil for a type without one.
    @_semantics("optimize.sil.specialize.generic.never")
    init?<Value: TweakStorable>(of type: Value.Type) {
        guard let format = type.tweakFormat else { return nil }
        self.format = format
        canonical = { Value.tweakTyped(.string($0))?.tweakErased.choiceName }
    }

    var remedy: String { "write \(format.noun) such as \(format.example)" }

    /// The canonical spelling of a text.
    func canonical(_ text: String, _ definition: TweakDefinition, _ path: TweakPath) throws(TweakError) -> String {
        if let text = canonical(text) { return text }
        let shown = definition.shown(.string(text))
        throw path.refusal(.badValue, "\(shown) is not \(format.noun); write one such as \(format.example)")
    }
}
