// Tests of the mouse in the editor: reports of the terminal go in, requests and screens come out.

import Testing
import Tweaks

@testable import tweakctl

@Suite struct EditorMouseTests {
    private static let tweaks = """
        {"ok":true,"rev":4,"tweaks":[\
        {"path":"A/B/Speed","kind":"number","value":28,"default":28,"min":0,"max":200,"modified":false},\
        {"path":"A/B/Size","kind":"number","value":16,"default":16,"min":4,"max":120,"step":0.5,"modified":false},\
        {"path":"A/B/Count","kind":"int","value":8,"default":8,"min":0,"max":24,"modified":false},\
        {"path":"A/B/Time","kind":"duration","value":"400ms","default":"400ms","min":"0s","max":"5s","modified":false},\
        {"path":"A/B/Color","kind":"color","value":"#FF8800FF","default":"#000000FF","modified":true},\
        {"path":"A/B/Frames","kind":"number","value":25,"default":0,"min":0,"max":60,"flags":["read-only"]},\
        {"path":"C/D/On","kind":"bool","value":false,"default":false,"modified":false}]}
        """
    private var harness = EditorHarness(tweaks: Self.tweaks)

    /// A report; row and column count from 1, as terminals count.
    private static func report(_ button: Int, _ column: Int, _ row: Int, isRelease: Bool = false) -> String {
        "\u{1B}[<\(button);\(column);\(row)\(isRelease ? "m" : "M")"
    }

    private mutating func click(_ column: Int, _ row: Int) {
        harness.type(Self.report(0, column, row) + Self.report(0, column, row, isRelease: true))
    }

    /// The column of a row's bar, from 1.
    private func bar(_ name: String) throws -> (column: Int, row: Int, width: Int) {
        let lines = harness.frame().lines
        let row = try #require(lines.firstIndex { $0.text.dropFirst(8).hasPrefix(name + " ") })
        let columns = try #require(lines[row].bars.first)
        return (columns.lowerBound + 1, row + 1, columns.count)
    }

    private var selected: String { harness.model.rows.isEmpty ? "" : harness.model.selectedIdentity ?? "" }

    @Test mutating func aClickSelectsARow() {
        click(20, 6)
        #expect(selected == "A/B/Count" && harness.lines.isEmpty)
        // Below the list, in the details, on the header and on the footer.
        for row in [1, 14, 20, 23, 24] { click(20, row) }
        #expect(selected == "A/B/Count" && harness.lines.isEmpty && harness.model.mode == .browsing)
        // A heading is folded and unfolded.
        click(5, 2)
        #expect(selected == "A" && harness.model.folded == ["A"])
        click(5, 2)
        #expect(harness.model.folded.isEmpty)
    }

    @Test mutating func aClickKeepsTheResultsOfASearch() {
        harness.type("/s")
        let count = harness.model.rows.count
        click(10, 3)
        #expect(harness.model.mode == .browsing && harness.model.cursor == 1 && harness.model.rows.count == count)
    }

    @Test(arguments: [
        ("Speed", 0, "0"), ("Speed", 9, "200"), ("Speed", 4, "88"), ("Size", 5, "68.5"), ("Count", 3, "8"),
        ("Count", 4, "11"), ("Time", 1, "600ms"), ("Time", 9, "5s"),
    ])
    mutating func aClickOnABarSetsTheValueThere(_ name: String, _ cell: Int, _ value: String) throws {
        let bar = try bar(name)
        #expect(bar.width == 10)
        click(bar.column + cell, bar.row)
        let isSame = name == "Count" && cell == 3
        #expect(harness.lines == (isSame ? ["drag on", "drag off"] : ["drag on", "set A/B/\(name) \(value)"]))
        #expect(selected == "A/B/\(name)")
    }

    @Test mutating func aDragFollowsThePointerAlsoBeyondTheBar() throws {
        let bar = try bar("Speed")
        harness.type(Self.report(0, bar.column + 2, bar.row))
        harness.type(Self.report(32, bar.column + 5, bar.row + 3) + Self.report(32, bar.column + 40, bar.row))
        // One request at a time; the newest value follows.
        #expect(
            try harness.lines == ["drag on", "set A/B/Speed 44"] && harness.tweak("A/B/Speed").shownText == "200")
        harness.answer("drag on")
        harness.answer("set A/B/Speed 44", ["A/B/Speed = 44 # was 28"], status: "ok rev 5")
        #expect(harness.lines == ["set A/B/Speed 200"])
        harness.type(Self.report(32, 1, 1) + Self.report(0, 1, 1, isRelease: true))
        harness.type(Self.report(32, bar.column + 5, bar.row))
        #expect(try harness.tweak("A/B/Speed").shownText == "0" && harness.model.drag == nil)
        // The step of undo ends after the last value.
        harness.answer("set A/B/Speed 200", ["A/B/Speed = 200 # was 44"], status: "ok rev 6")
        #expect(harness.lines == ["set A/B/Speed 0"])
        harness.answer("set A/B/Speed 0", ["A/B/Speed = 0 # was 200"], status: "ok rev 7")
        #expect(harness.lines == ["drag off"])
    }

    /// The release is lost, as when the terminal is left.
    @Test(arguments: [("\u{1A}", true), ("j", false)])
    mutating func aKeyEndsADrag(_ key: String, _ suspends: Bool) throws {
        let bar = try bar("Speed")
        harness.type(Self.report(0, bar.column + 2, bar.row))
        #expect(harness.lines.first == "drag on" && harness.lines.count == 2)
        let set = harness.lines[1]
        harness.answer("drag on")
        if !suspends { harness.answer(set, status: "ok rev 5") }
        harness.type(key)
        #expect(harness.model.drag == nil && harness.lines.last == "drag off")
        #expect(harness.otherEffects == (suspends ? [.suspend] : []))
        harness.type(Self.report(32, bar.column + 5, bar.row))
        #expect(harness.lines.last == "drag off")
    }

    @Test mutating func theBarsOfTheDetailsAreFiner() throws {
        harness.model.size = ScreenSize(columns: 120, rows: 24)
        harness.select("A/B/Speed")
        let row = try #require(harness.frame().lines.lastIndex { $0.bars.count == 2 || $0.bars.first?.count ?? 0 > 30 })
        let bar = try #require(harness.frame().lines[row].bars.last)
        harness.type(Self.report(0, bar.lowerBound + 2, row + 1))
        #expect(harness.lines == ["drag on", "set A/B/Speed 5"] && selected == "A/B/Speed")
    }

    @Test mutating func theChannelsOfAColorAreDragged() throws {
        for columns in [80, 120] {
            harness = EditorHarness(columns, 24, tweaks: Self.tweaks)
            harness.select("A/B/Color")
            harness.type("c")
            let row = try #require(harness.frame().lines.firstIndex { $0.text.ranges(of: "B   0 ").isEmpty == false })
            let bar = try #require(harness.frame().lines[row].bars.last)
            harness.type(Self.report(0, bar.upperBound, row + 1))
            #expect(harness.model.mode == .coloring("A/B/Color", channel: 2))
            #expect(harness.lines == ["drag on", "set A/B/Color #FF88FFFF"])
            // A click in the list ends it.
            click(10, 4)
            #expect(harness.model.mode == .browsing && selected == "A/B/Speed")
        }
    }

    @Test mutating func aFigureIsNotChanged() throws {
        let bar = try bar("Frames")
        click(bar.column, bar.row)
        #expect(harness.lines.isEmpty && harness.notice == "Frames is read-only: the program sets it")
    }

    @Test mutating func theWheelScrollsAndKeepsTheSelectionOnTheScreen() {
        harness = EditorHarness(80, 11)
        harness.type(Self.report(65, 5, 5))
        #expect(harness.model.top == 3 && selected == "Content/Text/String")
        for _ in 0..<9 { harness.type(Self.report(65, 5, 5)) }
        #expect(harness.model.top == 8 && harness.model.visibleRows.contains(harness.model.cursor))
        for _ in 0..<9 { harness.type(Self.report(64, 5, 5)) }
        #expect(harness.model.top == 0 && harness.lines.isEmpty)
        harness.type("?" + Self.report(65, 5, 5) + Self.report(65, 5, 5))
        guard case .reading(let page) = harness.model.mode else { return #expect(Bool(false), "no page") }
        #expect(page.top == 6)
    }

    @Test mutating func presetsAreChosen() {
        harness.type("p")
        harness.answer("presets", ["  dark  12 tweaks", "  light  3 tweaks"])
        click(5, 4)
        #expect(harness.frame().lines[3].text.hasPrefix("▌ light"))
        harness.type(Self.report(64, 5, 5))
        #expect(harness.frame().lines[2].text.hasPrefix("▌ dark"))
    }

    /// A click must not answer a question, nor end typing.
    @Test(arguments: ["R", "\r\u{15}7", "t"]) mutating func aClickLeavesPromptsAndQuestions(_ keys: String) {
        harness.select("A/B/Color")
        harness.type(keys)
        let mode = harness.model.mode
        click(20, 4)
        harness.type(Self.report(65, 5, 5))
        #expect(harness.model.mode == mode && harness.lines.isEmpty && mode != .browsing)
    }

    /// Any report on any screen, also while the list changes.
    @Test(arguments: ["", "c", "p", "?", "/s", "\r", "R", "m"]) mutating func anyReportDoesNoHarm(_ keys: String) {
        for (columns, rows) in [(40, 8), (80, 15), (130, 20), (20, 5)] {
            harness = EditorHarness(columns, rows, keys: "jj" + keys)
            for row in [1, 2, rows - 2, rows, 9_999] {
                for column in [1, 30, columns - 20, columns, 9_999] {
                    for button in [0, 32, 64, 65] { harness.type(Self.report(button, column, row)) }
                }
                harness.model.folded = row == 2 ? ["Content"] : []
                harness.model.arrange()
            }
            #expect(harness.frame().lines.count == rows)
        }
    }
}
