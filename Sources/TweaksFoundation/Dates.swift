// Makes dates values of tweaks, as texts of RFC 3339 in UTC, to the millisecond.

public import Foundation
public import Tweaks

extension Date: TweakFormatted, TweakWord {
    /// One atomic word of milliseconds.
    public typealias TweakStorage = TweakWordCell<Date>

    /// A time of RFC 3339, in UTC or with an offset: `2026-11-27T09:30:00Z`, `2026-11-27T10:30:00.25+01:00`. Digits
    /// after the milliseconds are cut.
    public init?(tweakText text: String) {
        var time = text.uppercased()
        var offset: Int64 = 0
        if !time.hasSuffix("Z") {
            guard let minutes = Self.offset(time.suffix(6)) else { return nil }
            offset = minutes * 60_000
            time = time.dropLast(6) + "Z"
        }
        guard let local = TimeText.parse(time) else { return nil }
        self.init(tweakWord: UInt64(bitPattern: local - offset))
        // An offset can lead out of the years that a text has.
        if milliseconds.map(TimeText.print).flatMap(TimeText.parse) != local - offset { return nil }
    }

    /// In UTC, with milliseconds if there are any: `2026-11-27T09:30:00Z`.
    ///
    /// A date before the year 0 or after 9999 has no such text; the text says where it is, and no tweak accepts it.
    public var tweakText: String {
        milliseconds.flatMap(Self.text) ?? "\(timeIntervalSince1970) s from 1970"
    }

    /// `date-time`.
    public static var tweakFormat: TweakFormat? {
        TweakFormat("date-time", "a time of RFC 3339", example: "2026-11-27T09:30:00Z")
    }

    /// Milliseconds since 1970; 0 beyond 64 bits, which validation keeps out of cells.
    public var tweakWord: UInt64 { UInt64(bitPattern: milliseconds ?? 0) }

    /// From milliseconds since 1970.
    public init(tweakWord: UInt64) {
        self.init(timeIntervalSince1970: Double(Int64(bitPattern: tweakWord)) / 1_000)
    }

    /// The nearest millisecond; nil beyond 64 bits.
    private var milliseconds: Int64? { Int64(exactly: (timeIntervalSince1970 * 1_000).rounded()) }

    /// The text; nil outside the years 0 to 9999.
    private static func text(_ milliseconds: Int64) -> String? {
        let text = TimeText.print(milliseconds)
        guard TimeText.parse(text) == milliseconds else { return nil }
        return milliseconds % 1_000 == 0 ? TimeText.seconds(milliseconds) : text
    }

    /// The minutes of an offset such as `+01:00`.
    private static func offset(_ text: Substring) -> Int64? {
        let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard let sign = text.first, "+-".contains(sign), parts.count == 2,
            parts.allSatisfy({ $0.count == 2 && $0.allSatisfy { ("0"..."9").contains($0) } }),
            let hours = Int64(parts[0]), let minutes = Int64(parts[1]), hours < 24, minutes < 60
        else { return nil }
        return (sign == "-" ? -1 : 1) * (hours * 60 + minutes)
    }
}
