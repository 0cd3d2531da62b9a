// Tests overrides of kinds that only a later version of the program knows.

import Testing
import TweaksTestSupport

@testable import Tweaks
@testable import TweaksStorage

@Suite(.blocking) struct UnknownKindTests {
    private static let line =
        #"{"path": "A/B/Shape", "kind": "polygon", "value": {"points": [1, 2]}, "origin": "x", "time": "2026-11-21T09:30:00Z"}"#

    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        try home.makeFolder("state")
        let head = #"{"format": "tweaks-overrides", "version": 1, "program": "x", "revision": 3, "overrides": ["#
        try home.write("\(head)\n\(Self.line)\n]}", to: "state/overrides.json")
    }

    @Test func anEntryOfAnUnknownKindIsKeptAndIsNotQuarantined() throws {
        try home.withRun { run in
            let failure = try run.save("Size", 2)
            #expect(failure == nil && run.text?.contains(Self.line) == true && run.store.info.entriesQuarantined == 0)
        }
        try home.withRun { run in
            let shape = try run.number("Shape")
            #expect(shape.value == 1 && run.text?.contains(Self.line) == true)
        }
    }

    @Test func aNewValueReplacesAnEntryOfAnUnknownKind() throws {
        try home.withRun { run in
            let failure = try run.save("Shape", 5)
            #expect(failure == nil && run.text?.contains("polygon") == false)
        }
        #expect(try ProgramRun(home.file("state")).number("Shape").value == 5)
    }
}
