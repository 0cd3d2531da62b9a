// Tests of the details in the editor: labels of choices, translucent colors, ages, and the selected row beside them.

import Testing
import Tweaks
import TweaksSystem

@testable import tweakctl

@Suite struct EditorDetailsTests {
    private static let tweaks = """
        {"ok":true,"rev":4,"tweaks":[\
        {"path":"A/B/Align","kind":"choice","value":"r","default":"l","modified":true,"choices":[\
        {"name":"l","label":null},{"name":"c","label":"Center"},{"name":"r","label":"To the right"}]},\
        {"path":"A/B/Color","kind":"color","value":"#FF000080","default":"#000000FF","modified":true},\
        {"path":"A/B/Solid","kind":"color","value":"#FF0000FF","default":"#000000FF","modified":true}]}
        """

    /// Only the second and the third choice have a label.
    @Test func choicesHaveTheirOwnLabels() throws {
        var harness = EditorHarness(120, 24, tweaks: Self.tweaks)
        #expect(harness.row("Align").contains("r To the right"))
        let text = harness.frame().text
        #expect(text.contains("│   l\n") && text.contains("│   c  Center") && text.contains("│ ● r  To the right"))
        harness.type("\r")
        #expect(harness.frame().text.contains("choice: l, c (Center), r (To the right)"))
        harness.type("␛/center")
        #expect(harness.model.rows.count == 1)
    }

    @Test func aTranslucentColorIsShownOnAChessboard() throws {
        let harness = EditorHarness(tweaks: Self.tweaks)
        #expect(harness.row("Color").contains("#FF000080 50%") && !harness.row("Solid").contains("%"))
        func samples(_ name: String) throws -> [TweakColor] {
            let line = try #require(harness.frame().lines.first { $0.text.contains(" \(name) ") })
            return line.spans.compactMap(\.swatch)
        }
        let fields = try samples("Color")
        #expect(fields.count == 2 && fields[0].red8 > fields[1].red8 && fields.allSatisfy { $0.alpha8 == 255 })
        #expect(try samples("Solid") == [TweakColor(red8: 255, green8: 0, blue8: 0)])
    }

    @Test func theChessboardHasSeveralRows() throws {
        var harness = EditorHarness(120, 24, tweaks: Self.tweaks)
        harness.select("A/B/Color")
        let rows = harness.frame().lines.filter { $0.spans.count { $0.swatch != nil } >= 12 }
        #expect(rows.count == 3 && rows[0].spans.compactMap(\.swatch) != rows[1].spans.compactMap(\.swatch))
    }

    @Test(arguments: [100, 120, 200]) func theSelectedRowEndsWithTheList(_ columns: Int) throws {
        let frame = EditorHarness(columns, 24).frame()
        let line = try #require(frame.lines.first { $0.text.hasPrefix("▌") })
        let list = EditorLayout(ScreenSize(columns: columns, rows: 24)).listColumns
        var column = 0
        for span in line.spans {
            #expect((span.background == .selected) == (column < list), "column \(column)")
            column += TextWidth.of(span.text)
        }
    }

    // MARK: Ages

    @Test func agesOfTheLayersAdvance() throws {
        var harness = EditorHarness(200, 24)
        harness.advance(by: .seconds(1))
        harness.answer(
            "explain Content/Text/Size",
            [
                "    default   60  by code at 2026-11-21T09:03:00Z",
                "  → override  \"at 2026-11-21T09:03:00Z now\" by uid 0 at 2026-11-21T10:02:58Z",
            ])
        harness.model.statsDue = nil
        func shows(_ text: String) -> Bool { harness.frame().text.contains(text) }
        #expect(shows("default 60 by code 1 h ago") && shows("by uid 0 just now"))
        // A value is no time.
        #expect(shows("\"at 2026-11-21T09:03:00Z now\""))
        #expect(harness.model.deadline == harness.model.now + .seconds(2))
        harness.advance(by: .seconds(2))
        #expect(shows("by uid 0 5 s ago") && harness.model.deadline == harness.model.now + .seconds(1))
        harness.advance(by: .seconds(115))
        #expect(shows("by uid 0 2 min ago") && harness.model.deadline == harness.model.now + .seconds(60))
    }

    @Test func theOutputOfAnActionKeepsItsTimes() {
        var harness = EditorHarness()
        harness.select("Player/Audio/Mute")
        harness.type("\r")
        harness.answer("run Player/Audio/Mute", ["  muted at 2026-11-21T10:02:20Z", "  by hand"])
        #expect(harness.frame().text.contains("muted at 2026-11-21T10:02:20Z") && harness.model.nextAge == nil)
    }

    @Test func agesOfTheHistoryAndOfPresetsAdvance() {
        var harness = EditorHarness(keys: "h")
        harness.answer("history 200", ["  rev 9  2026-11-21T10:02:20Z  uid 0: A/B/C 1 → 2", "  rev 8  then"])
        #expect(harness.frame().text.contains("rev 9  40 s ago  uid 0: A/B/C 1 → 2"))
        harness.advance(by: .seconds(30))
        #expect(harness.frame().text.contains("rev 9  1 min ago  uid 0"))
        harness = EditorHarness(keys: "p")
        harness.answer("presets", ["  dark   12 tweaks, saved 2026-11-21T07:02:20Z by uid 1000", "  light  3 tweaks"])
        #expect(harness.frame().text.contains("dark   12 tweaks, saved 3 h ago by uid 1000"))
    }
}
