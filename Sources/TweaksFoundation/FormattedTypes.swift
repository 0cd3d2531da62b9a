// Makes URLs, UUIDs, decimals, data, time zones and locales values of tweaks, as texts.

public import Foundation
public import Tweaks

extension URL: TweakFormatted {
    /// An absolute URL as RFC 3986 writes it, with other characters escaped; `http` and `ws` need a host.
    public init?(tweakText text: String) {
        guard let url = URL(string: text, encodingInvalidCharacters: false), let scheme = url.scheme?.lowercased(),
            !url.isHostWithPort
        else { return nil }
        if ["http", "https", "ws", "wss"].contains(scheme), url.host() ?? "" == "" { return nil }
        self = url
    }
    /// The absolute URL.
    public var tweakText: String { absoluteString }
    /// `uri`.
    public static var tweakFormat: TweakFormat? {
        TweakFormat("uri", "an absolute URL", example: "https://example.com/feed")
    }

    /// Whether it is `localhost:8080` or `example.com:443/x`, whose scheme would be the host.
    private var isHostWithPort: Bool {
        guard let host = scheme?.lowercased(), host == "localhost" || host.utf8.contains(UInt8(ascii: "."))
        else { return false }
        let port = absoluteString.utf8.dropFirst(host.utf8.count + 1).prefix { !"/?#".utf8.contains($0) }
        return (1...5).contains(port.count) && port.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
}

extension UUID: TweakFormatted {
    /// 32 hexadecimal digits in upper or lower case, with hyphens.
    public init?(tweakText text: String) { self.init(uuidString: text) }
    /// In upper case.
    public var tweakText: String { uuidString }
    /// `uuid`.
    public static var tweakFormat: TweakFormat? {
        TweakFormat("uuid", "a UUID", example: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
    }
}

extension Decimal: TweakFormatted {
    /// A number such as `-12.50` or `1e3`, with a point in every locale, that a decimal holds exactly.
    public init?(tweakText text: String) {
        guard let exact = ExactDecimal(text), let decimal = Decimal(string: text),
            ExactDecimal(decimal.description) == exact
        else { return nil }
        self = decimal
    }
    /// Without an exponent and zeros at the end.
    public var tweakText: String { description }
    /// `decimal`.
    public static var tweakFormat: TweakFormat? {
        TweakFormat("decimal", "a decimal number of at most 38 digits", example: "19.99")
    }
}

extension Data: TweakFormatted {
    /// The largest number of bytes in a tweak.
    private static let maxCount = 32_768

    /// Base64, also with the letters of base64url, and with or without the padding; at most 32 KiB.
    public init?(tweakText text: String) {
        if text.utf8.count > (Self.maxCount + 2) / 3 * 4 { return nil }
        let letters = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        let isPadded = letters.last == UInt8(ascii: "=")
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: isPadded ? 0 : (4 - letters.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(letters + padding)), data.count <= Self.maxCount else { return nil }
        self = data
    }
    /// Base64 with padding, in one line.
    public var tweakText: String { base64EncodedString() }
    /// `byte`.
    public static var tweakFormat: TweakFormat? {
        TweakFormat("byte", "base64 of at most 32 KiB", example: "aGVsbG8=")
    }
}

extension TimeZone: TweakFormatted {
    /// An identifier that the system knows, such as `Europe/Berlin` or `GMT+0200`.
    public init?(tweakText text: String) { self.init(identifier: text) }
    /// The identifier.
    public var tweakText: String { identifier }
    /// `time-zone`.
    public static var tweakFormat: TweakFormat? {
        TweakFormat("time-zone", "a known time zone", example: "Europe/Berlin")
    }
}

extension Locale: TweakFormatted {
    /// An identifier such as `de_DE` or `zh-Hans-CN`, of a language, script and region that ISO lists.
    public init?(tweakText text: String) {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "a")...UInt8(ascii: "z"): true
            default: "_-@=;".utf8.contains(byte)
            }
        }
        guard isPlain else { return nil }
        let identifier = Locale.identifier(.icu, from: text)
        let components = Locale.Components(identifier: identifier)
        let parts = components.languageComponents
        // Anything that is no region ends up in the variants, which have five letters, or begin with a digit.
        let variants = components.variant?.identifier.split(separator: "_") ?? []
        guard variants.allSatisfy({ $0.count > 4 || $0.first?.isNumber == true }),
            let language = parts.languageCode, language.isISOLanguage, language.identifier != "und",
            parts.script?.isISOScript ?? true, parts.region?.isISORegion ?? true
        else { return nil }
        self.init(identifier: identifier)
    }
    /// The identifier as Foundation writes it: `de_DE`.
    public var tweakText: String { Locale.identifier(.icu, from: identifier) }
    /// `locale`.
    public static var tweakFormat: TweakFormat? { TweakFormat("locale", "a locale", example: "de_DE") }
}
