// Overrides and history of kinds that a later version of the program has.

import Foundation
import Testing
import TweaksTestSupport

@testable import Tweaks
@testable import TweaksStorage

@Suite("Kinds that this build does not know", .blocking)
struct ForeignKindTests {
    private static let line =
        #"{"path": "A/B/Shape", "kind": "polygon", "value": {"points": [1, 2]}, "origin": "x", "time": "2026-11-21T09:30:00Z"}"#

    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: home.file("state"), withIntermediateDirectories: true)
        let text = """
            {"format": "tweaks-overrides", "version": 1, "program": "x", "revision": 3, "overrides": [
            \(Self.line)
            ]}
            """
        try Data(text.utf8).write(to: URL(fileURLWithPath: home.file("state/overrides.json")))
    }

    private func live(_ body: (StoredLife) throws -> Void) rethrows {
        let life = StoredLife(home.file("state"))
        try body(life)
        life.store.close()
    }

    @Test("an entry stays in the file as it is, and is no damage")
    func isKept() throws {
        try live { life in
            try life.number("Size").value = 2
            #expect(life.tried() == nil)
            #expect(life.text?.contains(Self.line) == true)
            #expect(life.store.facts.entriesSetAside == 0)
        }
        try live { life in
            let shape = try life.number("Shape")
            #expect(shape.value == 1)
            #expect(life.text?.contains(Self.line) == true)
        }
    }

    @Test("a value that is set for its path takes its place")
    func isReplaced() throws {
        try live { life in
            try life.number("Shape").value = 5
            #expect(life.tried() == nil)
            #expect(life.text?.contains("polygon") == false)
        }
        try live { life in
            let shape = try life.number("Shape")
            #expect(shape.value == 5)
        }
    }
}
