// Defines what the types of Foundation have in common whose tweaks are texts of one format.

public import Tweaks

/// A type whose tweaks are of kind `string`, in one format: a URL, a date, an amount.
///
/// Every text that a socket, a page or a file sets is read by ``init(tweakText:)``; other spellings of a value become its
/// ``tweakText``. A program reads the value, which is converted once for each change.
///
/// ```swift
/// static let base = Tweak("Api", "Calls", "Base", URL(string: "https://example.com")!)
/// static let opens = Tweak("Shop", "Hours", "Opens", Date(timeIntervalSince1970: 1_764_241_200))
/// ```
/// `choices:`, `maxLength:` and `validate:` apply to the text; there is no `in:`. Lists and optionals of such types are
/// values of tweaks, too.
public protocol TweakFormatted: TweakConvertible {
    /// The value that a text means; nil if it means none.
    init?(tweakText: String)
    /// The text of this value, which makes the same value.
    var tweakText: String { get }
}

extension TweakFormatted {
    /// From `.string`, or from the name of a `.choice`.
    public init?(_ value: TweakValue) {
        switch value {
        case .string(let text), .choice(let text): self.init(tweakText: text)
        default: return nil
        }
    }
    /// `.string`.
    public var erased: TweakValue { .string(tweakText) }
    /// `.string`.
    public static var tweakKind: TweakKind? { .string }
}

// MARK: - Ranges

extension Tweak where Value: TweakFormatted {
    /// Does not compile: these values are texts, which have no range.
    @available(*, unavailable, message: "texts such as URLs and dates have no range; refuse values by validate:")
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
        in range: some RangeExpression<Value>, step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil
    ) { fatalError("unavailable") }

    /// Does not compile: these values are texts, which have no range.
    @available(*, unavailable, message: "texts such as URLs and dates have no range; refuse values by validate:")
    public init(
        wrappedValue: Value, _ category: String, _ collection: String, _ name: String,
        in range: some RangeExpression<Value>, step: Value? = nil, unit: String? = nil, policy: TweakPolicy = .reject,
        help: String? = nil, formerly: String? = nil, flags: TweakFlags = [], registry: TweakRegistry? = nil
    ) { fatalError("unavailable") }
}
