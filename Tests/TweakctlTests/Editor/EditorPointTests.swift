// The editor's prompt of a point: two fields.

import Testing
import Tweaks

@testable import tweakctl

@Suite("Editor: points, lists and optionals") struct EditorPointTests {
    private static let facts = """
        {"ok":true,"rev":4,"watching":3,"tweaks":[\
        {"path":"Label/Text/Offset","kind":"point","value":[12,40],"default":[12,40],"modified":false,"min":[0,0],\
        "max":[320,200]},\
        {"path":"Label/Text/Stops","kind":"list","of":"number","value":[1,2.5],"default":[1],"modified":true},\
        {"path":"Label/Text/Limit","kind":"optional","of":"int","value":null,"default":null,"modified":false}]}
        """

    private func line(_ bench: EditorBench, _ name: String) -> String {
        bench.frame().lines.map(\.text).first { $0.contains(" \(name) ") } ?? ""
    }

    @Test("values stand in the list as the server writes them")
    func list() {
        let bench = EditorBench(facts: Self.facts)
        #expect(line(bench, "Offset").contains("12,40"))
        #expect(line(bench, "Stops").contains("[1, 2.5]"))
        #expect(line(bench, "Limit").contains("none"))
    }

    @Test(
        "a comma, a blank and Tab lead from one field to the other",
        arguments: [("7,9\r", "7,9"), ("7 9\r", "7,9"), ("7\t9\r", "7,9"), ("\t9\r", "12,9"), ("\t\t7\r", "7,40")])
    func fields(keys: String, value: String) {
        var bench = EditorBench(facts: Self.facts)
        bench.select("Label/Text/Offset")
        bench.type("\r")
        #expect(line(bench, "Offset").contains("12") && line(bench, "Offset").contains(" , 40"))
        bench.type(keys)
        #expect(bench.lines.last == "set Label/Text/Offset \(value)")
    }

    @Test("for a while there is a third field")
    func temporary() {
        var bench = EditorBench(facts: Self.facts)
        bench.select("Label/Text/Offset")
        bench.type("t7,9 1h\r")
        #expect(bench.lines.last == "set Label/Text/Offset 7,9 for 1h")
    }

    @Test("lists and optionals are typed as text")
    func texts() {
        var bench = EditorBench(facts: Self.facts)
        bench.select("Label/Text/Stops")
        bench.type("\r\u{15}[3, 4]\r")
        #expect(bench.lines.last == #"set Label/Text/Stops "[3, 4]""#)
        bench.answer(
            #"set Label/Text/Stops "[3, 4]""#, ["Label/Text/Stops = [3, 4] # was [1, 2.5]"], status: "ok rev 5")
        #expect(line(bench, "Stops").contains("[3, 4]"))
    }
}
