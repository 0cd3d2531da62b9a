// Fuzzes Swift source in which a default is rewritten: what is written is the new default, and the diff makes the same file.

import Tweaks
import TweaksBake

/// The text of a source file. The first byte selects the tweak `A/B/C`, the second one the line that it is declared in.
enum SourceTarget {
    /// Kind, default and value, as the answer to `describe` has them.
    private static let tweaks = [
        "\"kind\":\"bool\",\"default\":true,\"value\":false", "\"kind\":\"int\",\"default\":5,\"value\":-1234567",
        "\"kind\":\"number\",\"default\":60,\"value\":1e-7", "\"kind\":\"number\",\"default\":0.5,\"value\":72",
        "\"kind\":\"string\",\"default\":\"a\",\"value\":\"\\\"#\\\\\\n\\u202E\"",
        "\"kind\":\"color\",\"default\":\"#FF8800FF\",\"value\":\"#01020304\"",
        "\"kind\":\"color\",\"default\":\"#000000FF\",\"value\":\"#FF0000FF\"",
        "\"kind\":\"duration\",\"default\":\"250ms\",\"value\":\"1m0.000000007s\"",
        "\"kind\":\"point\",\"default\":[12,40],\"value\":[-1,0.25]",
        "\"kind\":\"choice\",\"default\":\"left\",\"value\":\"right\",\"choices\":[{\"name\":\"right\"}]",
        "\"kind\":\"list\",\"of\":\"int\",\"default\":[1,2],\"value\":[3,2,1]",
        "\"kind\":\"list\",\"of\":\"string\",\"default\":[\"a\"],\"value\":[]",
        "\"kind\":\"optional\",\"of\":\"int\",\"default\":null,\"value\":5",
        "\"kind\":\"optional\",\"of\":\"duration\",\"default\":\"1s\",\"value\":null",
    ]

    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard bytes.count >= 2 else { return }
        let source = Array(bytes.dropFirst(2))
        try checkTexts(source, hashes: Int(bytes[1] % 4))
        let fields = tweaks[Int(bytes[0]) % tweaks.count]
        let place = "\"path\":\"A/B/C\",\"source\":\"App/Look.swift:\(max(1, bytes[1]))\""
        let json = JSON("{\(place),\(fields)}")
        guard let tweak = json.flatMap({ try? TunedTweak($0) }) else {
            throw Finding("the tweak \(fields) is not read")
        }
        guard let baked = BakedSource(source, [tweak]) else { return }
        try expect(baked.tweaks.count + baked.refusals.count == 1, "a tweak is neither written nor refused")
        if baked.tweaks.isEmpty { return try expect(baked.bytes == source, "a refusal changes the source") }
        let back = JSON("{\(place),\(swapped(fields))}").flatMap { try? TunedTweak($0) }
        // The same declaration has the new default now.
        if let back, let again = BakedSource(baked.bytes, [back]), again.tweaks.isEmpty {
            let isDifferent = again.refusals.contains { !$0.1.description.ranges(of: "another default").isEmpty }
            try expect(!isDifferent, "the new default is not what was written")
        }
        let diff = baked.diff("Look.swift")
        try expect(patched(source, diff) == baked.bytes, "the diff makes another file: \(diff.joined(separator: "\n"))")
    }

    private static func swapped(_ fields: String) -> String {
        fields.replacing("\"default\"", with: "\"old\"").replacing("\"value\"", with: "\"default\"")
            .replacing("\"old\"", with: "\"value\"")
    }

    /// A text is the same after it was written as a literal of any form.
    private static func checkTexts(_ bytes: [UInt8], hashes: Int) throws(Finding) {
        let text = String(decoding: bytes, as: UTF8.self)
        for isMultiline in [false, true] {
            let shape = SwiftStringShape(hashes: hashes, isMultiline: isMultiline)
            let literal = SwiftString.literal(text, like: shape, indentation: [UInt8(ascii: " ")], lineEnd: "\r\n")
            let same = SwiftString.text(Array(literal.utf8))
            try expect(same?.utf8.elementsEqual(text.utf8) ?? false, "a text becomes another one: \(literal)")
        }
    }

    /// The file that a diff makes of another one; nil if the diff does not fit.
    private static func patched(_ source: [UInt8], _ diff: [String]) -> [UInt8]? {
        let lines = source.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var result: [[UInt8]] = []
        var position = 0
        for line in diff.dropFirst(2) {
            let content = Array(line.utf8.dropFirst())
            switch line.utf8.first {
            case UInt8(ascii: "@"):
                let start = line.split(separator: " ")[1].dropFirst().prefix { $0 != "," }
                guard let number = Int(start), number >= 1, number - 1 >= position, number <= lines.count else {
                    return nil
                }
                result += lines[position..<number - 1].map { Array($0) }
                position = number - 1
            case UInt8(ascii: "+"): result.append(content)
            case UInt8(ascii: "\\"): break
            case let mark?:
                guard position < lines.count, lines[position].elementsEqual(content) else { return nil }
                if mark == UInt8(ascii: " ") { result.append(content) }
                position += 1
            case nil: return nil
            }
        }
        result += lines[position...].map { Array($0) }
        return Array(result.joined(separator: [UInt8(ascii: "\n")]))
    }
}
