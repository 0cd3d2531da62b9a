// Bakes values into a text, as a process describes them.

import Testing
import Tweaks

@testable import TweaksBake

/// One tweak and what becomes of its declaration.
struct BakeCase: CustomTestStringConvertible, Sendable {
    let source: String
    /// The fields of `describe` without path and place: `"kind":"int","default":5,"value":6`.
    let fields: String
    let expected: String
    var path = "A/B/C"
    var line = 1

    init(_ source: String, _ fields: String, _ expected: String, path: String = "A/B/C", line: Int = 1) {
        self.source = source
        self.fields = fields
        self.expected = expected
        self.path = path
        self.line = line
    }

    var testDescription: String { "\(source) → \(expected)" }

    /// The same with the kind and the two values.
    init(_ literal: String, _ kind: String, _ old: String, _ new: String, _ expected: String) {
        self.init(
            "let t = Tweak(\"A\", \"B\", \"C\", \(literal), help: \"x\")",
            "\"kind\":\(kind),\"default\":\(old),\"value\":\(new)",
            "let t = Tweak(\"A\", \"B\", \"C\", \(expected), help: \"x\")")
    }

    func baked() throws -> BakedSource {
        try #require(BakedSource(Array(source.utf8), [try .made(fields, path: path, line: line)]))
    }
}

extension TunedTweak {
    static func made(_ fields: String, path: String = "A/B/C", line: Int = 1) throws -> TunedTweak {
        let json = "{\"path\":\(Quoting.json(path)),\(fields),\"source\":\"App/Look.swift:\(line)\"}"
        return try TunedTweak(try #require(JSON(json), "\(json)"))
    }
}

extension BakedSource {
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var reasons: [String] { refusals.map(\.1.description) }
}
