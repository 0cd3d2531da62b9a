// The editor's model: keys to requests, answers and events to values, and what survives a lost connection.

import Testing
import Tweaks

@testable import tweakctl

@Suite struct EditorModelTests {
    private static let right = "\u{1B}[C", left = "\u{1B}[D", shiftRight = "\u{1B}[1;2C", altLeft = "\u{1B}[1;3D"

    /// One tweak, some keys, and what the server is asked.
    @Test(arguments: [
        ("Content/Text/Size", right, ["set Content/Text/Size 60.5"]),
        ("Content/Text/Size", shiftRight, ["set Content/Text/Size 65"]),
        ("Content/Text/Size", altLeft, ["set Content/Text/Size 59.5"]),
        ("Content/Text/Size", "\r\u{15}72\r", ["set Content/Text/Size 72"]),
        ("Content/Text/Size", "\r\u{15}two words\r", ["set Content/Text/Size \"two words\""]),
        ("Content/Text/Size", "\r\u{15}72␛", []), ("Content/Text/Size", "r", ["reset Content/Text/Size"]),
        ("Content/Text/Size", "t\r", ["set Content/Text/Size 60 for 10m"]),
        // What is chosen is replaced, by whatever hand.
        ("Content/Text/Size", "t72\r", ["set Content/Text/Size 72 for 10m"]),
        ("Content/Text/Size", "t\u{15}72\r", ["set Content/Text/Size 72 for 10m"]),
        ("Content/Text/Size", "t\u{5}.5\r", ["set Content/Text/Size 60.5 for 10m"]),
        ("Content/Text/Size", "t\t1h30m\r", ["set Content/Text/Size 60 for 1h30m"]),
        ("Content/Text/Size", "t\t\u{7F}5s\r", ["set Content/Text/Size 60 for 5s"]),
        ("Content/Text/Size", "t\t30s\t72\r", ["set Content/Text/Size 72 for 30s"]),
        ("Content/Text/Size", "t\t30s\u{1B}[Z72\r", ["set Content/Text/Size 72 for 30s"]),
        ("Content/Text/Size", "t72 5s\r", ["set Content/Text/Size 72 for 5s"]),
        ("Content/Text/Size", "t72 for 5s\r", ["set Content/Text/Size 72 for 5s"]),
        ("Content/Text/Size", "t72 for\r", []), ("Content/Text/Size", "t\tsoon\r", []),
        ("Content/Text/Size", "t\t5\r", []), ("Content/Text/Size", "t72␛", []),
        ("Content/Text/String", "t\r", ["set Content/Text/String \"Tweaks\" for 10m"]),
        ("Content/Text/String", "ta for 5s\r", ["set Content/Text/String \"a for 5s\" for 10m"]),
        ("Content/Text/Alignment", "tright\t5s\r", ["set Content/Text/Alignment right for 5s"]),
        ("Content/Text/Size", "K", ["keep Content/Text/Size"]),
        ("Content/Text/Size", "e", ["explain Content/Text/Size"]),
        ("Content/Text/Size", "c", []), ("Content/Text/Size", " ", []),
        ("Content/Text/Font Name", "\r!\r", ["set \"Content/Text/Font Name\" \"Avenir Next!\""]),
        ("Content/Text/Font Name", "r", ["reset \"Content/Text/Font Name\""]), ("Content/Text/String", right, []),
        ("Content/Text/Alignment", " ", ["set Content/Text/Alignment center"]),
        ("Content/Text/Alignment", left, []),
        ("Content/Text/Alignment", "\r\u{15}r\t\r", ["set Content/Text/Alignment right"]),
        ("Content/Text/Color", "c\(right)", []),
        ("Content/Text/Color", "c\u{1B}[B\(right)", ["set Content/Text/Color #FF8900FF"]),
        ("Content/Text/Color", "\(right)\u{1B}[A\u{1B}[H", ["set Content/Text/Color #FF880000"]),
        ("Content/Text/Color", "\r\u{15}red\r", ["set Content/Text/Color red"]),
        ("Content/Text/Color", "R", []), ("Content/Text/Color", "Ry", ["reset Content/Text"]),
        ("Content/Text/Color", "Rn", []),
        ("Player/Audio/Muted", " ", ["set Player/Audio/Muted true"]), ("Player/Audio/Muted", left, []),
        ("Player/Audio/Mute", "\r", ["run Player/Audio/Mute"]), ("Player/Audio/Mute", right, []),
        ("Player/Audio/Mute", " now 'a b'\r", ["run Player/Audio/Mute now 'a b'"]),
        ("Player/Audio/Mute", " \r", ["run Player/Audio/Mute"]),
        ("Player/Audio/Token", "\rhunter2\r", ["set Player/Audio/Token \"hunter2\""]), ("Player/Audio/Token", "t", []),
        ("Player/Status/Frames", right, []), ("Player/Status/Frames", "\r", []), ("Player/Status/Frames", "r", []),
        ("Player/Status/Frames", "u", ["undo"]), ("Content", "U", ["redo"]), ("Content", "h", ["history 200"]),
        ("Content", "p", ["presets"]),
        // A paste among the tweaks does nothing, whatever it says.
        ("Content/Text/Size", "\u{1B}[200~ruq\r\u{1B}[201~", []),
        ("Content/Text/Size", "\r\u{15}\u{1B}[200~7\r2\n\u{3}\u{1B}[201~", []),
    ])
    func asks(_ path: String, _ keys: String, _ lines: [String]) {
        var bench = EditorBench()
        bench.select(path)
        bench.type(keys)
        #expect(bench.lines == lines)
        #expect(bench.other.isEmpty)
    }

    @Test func quits() {
        for keys in ["q", "\u{3}", "?\u{3}", "h\u{3}"] {
            var bench = EditorBench()
            bench.type(keys)
            if keys.hasPrefix("h") { continue }
            #expect(bench.other == [.quit])
        }
        var bench = EditorBench()
        bench.type("\u{C}\u{1A}/q␛")
        #expect(bench.other == [.redraw, .suspend])
    }

    // MARK: Held keys

    /// However long a key is held, there is one request under way, and the newest value comes next.
    @Test func heldKeysAreFolded() throws {
        var bench = EditorBench()
        for _ in 0..<30 { bench.type(Self.right) }
        #expect(bench.lines == ["set Content/Text/Size 60.5"])
        #expect(try bench.tweak("Content/Text/Size").shownText == "75")
        bench.answer("set Content/Text/Size 60.5", ["Content/Text/Size = 60.5 # was 60"], status: "ok rev 5")
        #expect(bench.lines == ["set Content/Text/Size 75"])
        bench.event("event 5 Content/Text/Size = 60.5 # was 60 by uid 1000")
        // What was asked for is shown all the time.
        #expect(try bench.tweak("Content/Text/Size").shownText == "75")
        bench.answer("set Content/Text/Size 75", ["Content/Text/Size = 75 # was 60.5"], status: "ok rev 6")
        bench.event("event 6 Content/Text/Size = 75 # was 60.5 by uid 1000")
        let tweak = try bench.tweak("Content/Text/Size")
        #expect(tweak.value == .number(75) && tweak.wanted == nil && tweak.news == nil && tweak.isModified)
        #expect(bench.lines.isEmpty)
    }

    @Test func refusedChangesGoBack() throws {
        var bench = EditorBench()
        bench.type(Self.right)
        bench.answer("set Content/Text/Size 60.5", status: "error denied Content/Text/Size: this session may only read")
        #expect(try bench.tweak("Content/Text/Size").shownText == "60")
        #expect(bench.notice == "denied: Content/Text/Size: this session may only read")
    }

    // MARK: Others

    @Test func othersAreMarkedForAWhile() throws {
        var bench = EditorBench()
        bench.event("event 5 Content/Text/Size = 72      # was 60 by uid 1000")
        bench.event("event 6 Content/Text/String = \"by \\\" me\"      # was \"x by y\" by code")
        bench.event("event 6 Content/Text/Alignment = right # was left, for 10m by uid 7")
        #expect(try bench.tweak("Content/Text/Alignment").news?.origin == "uid 7")
        bench.event("event 6 Player/Status/Frames = 30      # was 25 by code")
        #expect(try bench.tweak("Content/Text/Size").news?.origin == "uid 1000")
        #expect(try bench.tweak("Content/Text/String").news?.origin == "code")
        #expect(try bench.tweak("Content/Text/String").value == .string("by \" me"))
        #expect(try bench.tweak("Player/Status/Frames").news == nil)
        #expect(try bench.tweak("Player/Status/Frames").value == .number(30))
        #expect(bench.model.revision == 6 && bench.model.deadline != nil)
        bench.pass(.seconds(5))
        #expect(try bench.tweak("Content/Text/Size").news == nil)
    }

    /// Events come as JSON while an answer in JSON is awaited.
    @Test func eventsInJSON() throws {
        var bench = EditorBench()
        bench.event(
            "{\"event\":\"change\",\"rev\":5,\"path\":\"Content/Text/Size\",\"kind\":\"number\",\"value\":72,\"was\":60,\"by\":\"code\"}"
        )
        #expect(try bench.tweak("Content/Text/Size").value == .number(72))
        #expect(try bench.tweak("Content/Text/Size").news?.origin == "code")
        bench.event("{\"event\":\"lagged\",\"rev\":9,\"count\":3}")
        #expect(bench.lines == ["get Content/Text/Size", "get *"])
    }

    @Test func laggedMeansReadingAgain() throws {
        var bench = EditorBench()
        for _ in 0..<3 { bench.event("event 44 lagged 3") }
        // One at a time; what came meanwhile makes one more.
        #expect(bench.lines == ["get *"])
        bench.answer("get *", status: EditorBench.facts)
        bench.answer("get *", status: EditorBench.facts.replacing("\"value\":60", with: "\"value\":61"))
        #expect(try bench.tweak("Content/Text/Size").value == .number(61))
    }

    @Test func secretsAreReadAgain() throws {
        var bench = EditorBench()
        bench.event("event 5 Player/Audio/Token = (set) # was (unset) by uid 1000")
        #expect(try bench.tweak("Player/Audio/Token").shownText == "(set)")
        bench.answer(
            "get Player/Audio/Token",
            status:
                "{\"ok\":true,\"tweaks\":[{\"path\":\"Player/Audio/Token\",\"kind\":\"string\",\"value\":null,\"set\":true,"
                + "\"modified\":true,\"flags\":[\"secret\"]}]}")
        #expect(try bench.tweak("Player/Audio/Token").isModified)
    }

    /// The number of tweaks is asked for now and then: the server does not say when one registers.
    @Test func newTweaksAppear() throws {
        var bench = EditorBench()
        bench.pass(.seconds(3))
        bench.answer("explain Content/Text/Size", ["  → default 60  by code at 2026-11-21T10:00:00Z"])
        #expect(bench.model.layers.lines.count == 1)
        bench.answer("stats", ["  tweaks: 10"])
        let more = ",{\"path\":\"Zoo/A/Lion\",\"kind\":\"int\",\"value\":1,\"default\":1,\"modified\":false}]}"
        bench.answer("get *", status: EditorBench.facts.dropLast(2) + more)
        #expect(try bench.tweak("Zoo/A/Lion").value == .int(1))
        #expect(bench.model.selectedTweak?.path == "Content/Text/Size")
        bench.pass(.seconds(3))
        bench.answer("explain Content/Text/Size")
        bench.answer("stats", ["  tweaks: 10"])
        #expect(bench.lines.isEmpty)
    }

    // MARK: Typing

    @Test func refusedValuesStay() throws {
        var bench = EditorBench()
        bench.type("\r\u{15}500\r")
        // While the answer is awaited, nothing is sent twice.
        bench.type("\r")
        bench.answer(
            "set Content/Text/Size 500", status: "error out-of-range Content/Text/Size: 500 is outside 10...100")
        guard case .typing(let prompt) = bench.model.mode else { return #expect(Bool(false), "\(bench.model.mode)") }
        #expect(prompt.editor.text == "500" && prompt.problem == "Content/Text/Size: 500 is outside 10...100")
        bench.type("\u{7F}\r")
        bench.answer("set Content/Text/Size 50", ["Content/Text/Size = 50 # was 60"], status: "ok rev 5")
        #expect(bench.model.mode == .browsing)
        #expect(try bench.tweak("Content/Text/Size").value == .number(50))
    }

    @Test func actionsShowWhatTheySay() {
        var bench = EditorBench()
        bench.select("Player/Audio/Mute")
        bench.type("\r")
        bench.answer("run Player/Audio/Mute", ["  muted"])
        #expect(bench.notice == "Player/Audio/Mute: muted")
        bench.type("\r")
        bench.answer("run Player/Audio/Mute", ["  one", "  two"])
        #expect(bench.model.mode == .reading(Page(title: "Player/Audio/Mute", lines: ["one", "two"])))
        bench.type("q\r")
        bench.answer("run Player/Audio/Mute", status: "error action-failed Player/Audio/Mute: no speaker")
        #expect(bench.notice == "action-failed: Player/Audio/Mute: no speaker")
    }

    @Test func undoSaysWhose() {
        var bench = EditorBench()
        bench.type("u")
        bench.answer("undo", ["Content/Text/Size = 16 # was 70"], status: "ok rev 5 undid 4 by uid 1000")
        #expect(bench.notice == "undid 4 by uid 1000: Content/Text/Size = 16")
        bench.answer("get Content/Text/Size", status: "error unknown-tweak gone")
        bench.type("u")
        bench.answer(
            "undo",
            status: "error conflict Content/Text/Size was changed since by uid 0; undo force does it all the same")
        bench.type("y")
        #expect(bench.lines == ["undo force"])
    }

    @Test func unsavedIsSaid() {
        var bench = EditorBench()
        bench.type("\r\u{15}72\r")
        bench.answer(
            "set Content/Text/Size 72", ["Content/Text/Size = 72 # was 60"],
            status: "ok rev 5 unsaved: the disk is full")
        #expect(bench.notice == "in effect, but not saved: the disk is full")
    }
}
