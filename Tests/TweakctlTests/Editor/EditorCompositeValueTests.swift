// Tests of points, lists and optionals in the editor.

import Testing

@testable import tweakctl

@Suite struct EditorCompositeValueTests {
    private var harness = EditorHarness(
        tweaks: """
            {"ok":true,"rev":4,"watching":3,"tweaks":[\
            {"path":"Label/Text/Offset","kind":"point","value":[12,40],"default":[12,40],"modified":false,"min":[0,0],\
            "max":[320,200]},\
            {"path":"Label/Text/Stops","kind":"list","of":"number","value":[1,2.5],"default":[1],"modified":true},\
            {"path":"Label/Text/Limit","kind":"optional","of":"int","value":null,"default":null,"modified":false}]}
            """)

    @Test func valuesAreShownAsTheServerWritesThem() {
        #expect(harness.row("Offset").contains("12,40"))
        #expect(harness.row("Stops").contains("[1, 2.5]"))
        #expect(harness.row("Limit").contains("none"))
    }

    @Test(arguments: [("7,9\r", "7,9"), ("7 9\r", "7,9"), ("7\t9\r", "7,9"), ("\t9\r", "12,9"), ("\t\t7\r", "7,40")])
    mutating func commaSpaceAndTabMoveBetweenTheFieldsOfAPoint(_ keys: String, _ value: String) {
        harness.select("Label/Text/Offset")
        harness.type("\r")
        #expect(harness.row("Offset").contains("12") && harness.row("Offset").contains(" , 40"))
        harness.type(keys)
        #expect(harness.lines.last == "set Label/Text/Offset \(value)")
    }

    @Test mutating func aTemporaryPointHasAThirdField() {
        harness.select("Label/Text/Offset")
        harness.type("t7,9 1h\r")
        #expect(harness.lines.last == "set Label/Text/Offset 7,9 for 1h")
    }

    @Test mutating func aListIsTypedAsText() {
        harness.select("Label/Text/Stops")
        harness.type("\r\u{15}[3, 4]\r")
        let request = #"set Label/Text/Stops "[3, 4]""#
        #expect(harness.lines.last == request)
        harness.answer(request, ["Label/Text/Stops = [3, 4] # was [1, 2.5]"], status: "ok rev 5")
        #expect(harness.row("Stops").contains("[3, 4]"))
    }
}
