// Tests of the editor's model: requests for keys, and its handling of answers and events.

import Testing
import Tweaks

@testable import tweakctl

@Suite struct EditorModelTests {
    private static let right = "\u{1B}[C", left = "\u{1B}[D", shiftRight = "\u{1B}[1;2C", altLeft = "\u{1B}[1;3D"
    private var harness = EditorHarness()

    /// `$` stands for the path of the tweak.
    @Test(arguments: [
        ("Size", right, ["set $ 60.5"]), ("Size", shiftRight, ["set $ 65"]), ("Size", altLeft, ["set $ 59.5"]),
        ("Size", "\r\u{15}72\r", ["set $ 72"]), ("Size", "\r\u{15}two words\r", ["set $ \"two words\""]),
        ("Size", "\r\u{15}72␛", []), ("Size", "r", ["reset $"]), ("Size", "t\r", ["set $ 60 for 10m"]),
        ("Size", "\r\u{15}*=2\r", ["set $ 60*2"]), ("Size", "\r\u{15}-= 5\r", ["set $ 60-5"]),
        ("Size", "t*=2\r", ["set $ 60*2 for 10m"]), ("String", "\r\u{15}*=2\r", ["set $ \"*=2\""]),
        // Typing replaces the selected text.
        ("Size", "t72\r", ["set $ 72 for 10m"]), ("Size", "t\u{15}72\r", ["set $ 72 for 10m"]),
        ("Size", "t\u{5}.5\r", ["set $ 60.5 for 10m"]), ("Size", "t\t1h30m\r", ["set $ 60 for 1h30m"]),
        ("Size", "t\t\u{7F}5s\r", ["set $ 60 for 5s"]), ("Size", "t\t30s\t72\r", ["set $ 72 for 30s"]),
        ("Size", "t\t30s\u{1B}[Z72\r", ["set $ 72 for 30s"]), ("Size", "t72 5s\r", ["set $ 72 for 5s"]),
        ("Size", "t72 for 5s\r", ["set $ 72 for 5s"]), ("Size", "t72 for\r", []), ("Size", "t\tsoon\r", []),
        ("Size", "t\t5\r", []), ("Size", "t72␛", []), ("String", "t\r", ["set $ \"Tweaks\" for 10m"]),
        ("String", "ta for 5s\r", ["set $ \"a for 5s\" for 10m"]),
        ("Alignment", "tright\t5s\r", ["set $ right for 5s"]), ("Size", "K", ["keep $"]), ("Size", "e", ["explain $"]),
        ("Size", "c", []), ("Size", " ", []),
        ("Font Name", "\r!\r", ["set \"Content/Text/Font Name\" \"Avenir Next!\""]),
        ("Font Name", "r", ["reset \"Content/Text/Font Name\""]), ("String", right, []),
        ("Alignment", " ", ["set $ center"]), ("Alignment", left, []), ("Alignment", "\r\u{15}r\t\r", ["set $ right"]),
        ("Color", "c\(right)", []), ("Color", "c\u{1B}[B\(right)", ["set $ #FF8900FF"]),
        ("Color", "\(right)\u{1B}[A\u{1B}[H", ["set $ #FF880000"]), ("Color", "\r\u{15}red\r", ["set $ red"]),
        ("Color", "R", []), ("Color", "Ry", ["reset Content/Text"]), ("Color", "Rn", []),
        ("Muted", " ", ["set $ true"]), ("Muted", left, []), ("Mute", "\r", ["run $"]), ("Mute", right, []),
        ("Mute", " now 'a b'\r", ["run $ now 'a b'"]), ("Mute", " \r", ["run $"]),
        ("Token", "\rhunter2\r", ["set $ \"hunter2\""]), ("Token", "t", []), ("Frames", right, []),
        ("Frames", "\r", []), ("Frames", "r", []), ("Frames", "u", ["undo mine"]), ("Content", "U", ["redo mine"]),
        ("Content", "h", ["history 200"]), ("Content", "p", ["presets"]),
        // Pasted keys are no commands.
        ("Size", "\u{1B}[200~ruq\r\u{1B}[201~", []), ("Size", "\r\u{15}\u{1B}[200~7\r2\n\u{3}\u{1B}[201~", []),
    ])
    mutating func keysSendRequests(_ name: String, _ keys: String, _ lines: [String]) throws {
        let path = name == "Content" ? name : try #require(harness.path(of: name))
        harness.select(path)
        harness.type(keys)
        #expect(harness.lines == lines.map { $0.replacing("$", with: path) } && harness.otherEffects.isEmpty)
    }

    @Test(
        arguments: [
            ("q", [.quit]), ("\u{3}", [.quit]), ("?\u{3}", [.quit]), ("\u{C}\u{1A}/q␛", [.redraw, .suspend]),
        ] as [(String, [Effect])])
    mutating func someKeysQuitRedrawOrSuspend(_ keys: String, _ effects: [Effect]) {
        harness.type(keys)
        #expect(harness.otherEffects == effects)
    }

    @Test mutating func aKeyThatIsHeldHasOneRequestInFlight() throws {
        for _ in 0..<30 { harness.type(Self.right) }
        #expect(try harness.lines == ["set Content/Text/Size 60.5"] && harness.size.shownText == "75")
        harness.answer("set Content/Text/Size 60.5", ["Content/Text/Size = 60.5 # was 60"], status: "ok rev 5")
        #expect(harness.lines == ["set Content/Text/Size 75"])
        harness.event("event 5 Content/Text/Size = 60.5 # was 60 by uid 1000")
        // The requested value stays on the screen.
        #expect(try harness.size.shownText == "75")
        harness.answer("set Content/Text/Size 75", ["Content/Text/Size = 75 # was 60.5"], status: "ok rev 6")
        harness.event("event 6 Content/Text/Size = 75 # was 60.5 by uid 1000")
        let tweak = try harness.size
        #expect(tweak.value == .number(75) && tweak.requested == nil && tweak.recentChange == nil && tweak.isModified)
        #expect(harness.lines.isEmpty)
    }

    @Test mutating func aRefusedChangeShowsTheFormerValue() throws {
        harness.type(Self.right)
        let refusal = "denied Content/Text/Size: this session may only read"
        harness.answer("set Content/Text/Size 60.5", status: "error \(refusal)")
        #expect(try harness.size.shownText == "60")
        #expect(harness.notice == "denied: Content/Text/Size: this session may only read")
    }

    private static let size = #""tweaks":[{"path":"Content/Text/Size","kind":"number","value":72,"was":60"#
    private static let text = #""text":["Content/Text/Size = 72 # war 60","#

    /// Its meaning is in the fields; the text may be in any words.
    @Test(
        arguments: [
            (
                #"{"ok":true,"rev":5,"unsaved":"the disk is full",\#(size)}],\#(text)"ok rev 5 verloren: voll"]}"#,
                "in effect, but not saved: the disk is full"
            ),
            (
                #"{"ok":true,"rev":5,"unaudited":"late",\#(size)}],\#(text)"ok rev 5 spät"]}"#,
                "in effect, but not in the audit: late"
            ),
            (#"{"ok":true,"rev":5,\#(size),"clampedFrom":500}],\#(text)"ok rev 5"]}"#, "war 60"),
            (#"{"ok":true,"rev":5,\#(size),"snappedFrom":72.1}],\#(text)"ok rev 5"]}"#, "war 60"),
            // An older server sends no text.
            (#"{"ok":true,"rev":5,\#(size),"snappedFrom":72.1}]}"#, "the value was adjusted to fit"),
            (
                #"{"ok":true,"rev":5,"unsaved":"the disk is full",\#(size)}]}"#,
                "in effect, but not saved: the disk is full"
            ),
            (#"{"ok":true,"rev":5,\#(size)}],\#(text)"ok rev 5 unsaved: no, clamped from, swapped to"]}"#, nil),
        ] as [(String, String?)])
    mutating func whatAChangeReportsIsANotice(_ reply: String, _ notice: String?) throws {
        harness.type("\r\u{15}72\r")
        harness.answer("set Content/Text/Size 72", status: reply)
        #expect(try harness.notice == notice && harness.size.value == .number(72) && harness.size.isModified)
    }

    @Test(arguments: [
        (
            #"{"ok":true,"rev":5,"swapped":"u",\#(size)}],\#(text)"ok rev 5 getauscht mit u"]}"#,
            "swapped to u: Content/Text/Size = 72; p w goes back"
        ),
        (
            #"{"ok":true,"rev":5,"undid":4,\#(size)}],\#(text)"ok rev 5 zurückgenommen: 4"]}"#,
            "zurückgenommen: 4: Content/Text/Size = 72"
        ),
        (
            #"{"ok":true,"rev":5,"unchanged":true,"undid":4,"text":["ok rev 5 gleich nichts getan"]}"#,
            "nichts getan, nothing changed"
        ),
        (#"{"ok":true,"rev":5,"undid":4,\#(size)}]}"#, "undo: Content/Text/Size = 72"),
        (#"{"ok":true,"rev":5,"text":["  ein Hinweis","ok rev 5"]}"#, "undo; ein Hinweis"),
    ]) mutating func whatACommandHasDoneIsANotice(_ reply: String, _ notice: String) {
        harness.type("u")
        harness.answer("undo mine", status: reply)
        #expect(harness.notice == notice)
    }

    /// An older server refuses to send text, so its pages are requested in text.
    @Test mutating func anOlderServerShowsItsPagesInText() {
        harness.disconnect()
        harness.model.connected()
        harness.type("")
        harness.answer(Answer.fieldsRequest, status: #"{"ok":false,"error":{"code":"usage","message":"no"}}"#)
        harness.answer("hello 1", status: #"{"ok":true,"name":"old","pid":7,"instance":"one"}"#)
        harness.answer("watch *", status: EditorHarness.tweaks)
        #expect(harness.model.name == "old" && harness.model.processID == "7")
        harness.type("h")
        let answer = Answer(body: ["  rev 1  then"], status: "ok", isRefusal: false)
        #expect(harness.lines == ["history 200"])
        harness.model.receive(answer, for: .page("history"))
        #expect(harness.model.mode == .reading(Page(title: "history", lines: ["rev 1  then"])))
    }

    @Test mutating func aChangeByOthersIsMarkedForSomeSeconds() throws {
        harness.event("event 5 Content/Text/Size = 72      # was 60 by uid 1000")
        harness.event("event 6 Content/Text/String = \"by \\\" me\"      # was \"x by y\" by code")
        harness.event("event 6 Content/Text/Alignment = right # was left, for 10m by uid 7")
        #expect(try harness.tweak("Content/Text/Alignment").recentChange?.origin == "uid 7")
        harness.event("event 6 Player/Status/Frames = 30      # was 25 by code")
        #expect(try harness.size.recentChange?.origin == "uid 1000")
        let (string, frames) = (try harness.tweak("Content/Text/String"), try harness.tweak("Player/Status/Frames"))
        #expect(string.recentChange?.origin == "code" && string.value == .string("by \" me"))
        #expect(frames.recentChange == nil && frames.value == .number(30))
        #expect(harness.model.revision == 6 && harness.model.deadline != nil)
        harness.advance(by: .seconds(5))
        #expect(try harness.size.recentChange == nil)
    }

    /// Events are JSON while an answer in JSON is pending.
    @Test mutating func eventsMayBeJSON() throws {
        let change = #"{"event":"change","rev":5,"path":"Content/Text/Size","kind":"number","value":72,"was":60,"#
        harness.event(change + #""by":"code"}"#)
        #expect(try harness.size.value == .number(72) && harness.size.recentChange?.origin == "code")
        harness.event(#"{"event":"lagged","rev":9,"count":3}"#)
        #expect(harness.lines == ["get Content/Text/Size", "get *"])
    }

    /// One request at a time; events in the meantime cause one more.
    @Test mutating func lostEventsCauseAllTweaksToBeReadAgain() throws {
        for _ in 0..<3 { harness.event("event 44 lagged 3") }
        #expect(harness.lines == ["get *"])
        harness.answer("get *", status: EditorHarness.tweaks)
        harness.answer("get *", status: EditorHarness.tweaks.replacing("\"value\":60", with: "\"value\":61"))
        #expect(try harness.size.value == .number(61))
    }

    @Test mutating func aChangedSecretIsReadAgain() throws {
        harness.event("event 5 Player/Audio/Token = (set) # was (unset) by uid 1000")
        #expect(try harness.tweak("Player/Audio/Token").shownText == "(set)")
        let token = #"{"path":"Player/Audio/Token","kind":"string","value":null,"set":true,"modified":true,"#
        harness.answer("get Player/Audio/Token", status: #"{"ok":true,"tweaks":["# + token + #""flags":["secret"]}]}"#)
        #expect(try harness.tweak("Player/Audio/Token").isModified)
    }

    /// The server does not announce new tweaks, so their number is polled.
    @Test mutating func newTweaksAppear() throws {
        harness.advance(by: .seconds(3))
        harness.answer("explain Content/Text/Size", ["  → default 60  by code at 2026-11-21T10:00:00Z"])
        #expect(harness.model.layers.lines.count == 1)
        harness.answer("stats", ["  tweaks: 10"])
        let more = ",{\"path\":\"Zoo/A/Lion\",\"kind\":\"int\",\"value\":1,\"default\":1,\"modified\":false}]}"
        harness.answer("get *", status: EditorHarness.tweaks.dropLast(2) + more)
        #expect(try harness.tweak("Zoo/A/Lion").value == .int(1))
        #expect(harness.model.selectedTweak?.path == "Content/Text/Size")
        harness.advance(by: .seconds(3))
        harness.answer("explain Content/Text/Size")
        harness.answer("stats", ["  tweaks: 10"])
        #expect(harness.lines.isEmpty)
    }

    @Test mutating func aRefusedValueStaysInThePrompt() throws {
        // The second Enter sends nothing, because an answer is pending.
        harness.type("\r\u{15}500\r\r")
        harness.answer(
            "set Content/Text/Size 500", status: "error out-of-range Content/Text/Size: 500 is outside 10...100")
        let mode = harness.model.mode
        guard case .typing(let prompt) = mode else { return #expect(Bool(false), "\(mode)") }
        #expect(prompt.editor.text == "500" && prompt.problem == "Content/Text/Size: 500 is outside 10...100")
        harness.type("\u{7F}\r")
        harness.answer("set Content/Text/Size 50", ["Content/Text/Size = 50 # was 60"], status: "ok rev 5")
        #expect(try harness.model.mode == .browsing && harness.size.value == .number(50))
    }

    @Test mutating func theOutputOfAnActionIsANoticeOrAPage() {
        harness.select("Player/Audio/Mute")
        harness.type("\r")
        harness.answer("run Player/Audio/Mute", ["  muted"])
        #expect(harness.notice == "Player/Audio/Mute: muted")
        harness.type("\r")
        harness.answer("run Player/Audio/Mute", ["  one", "  two"])
        #expect(
            harness.model.mode == .reading(Page(title: "Player/Audio/Mute", lines: ["one", "two"], isOutput: true)))
        harness.type("q\r")
        harness.answer("run Player/Audio/Mute", status: "error action-failed Player/Audio/Mute: no speaker")
        #expect(harness.notice == "action-failed: Player/Audio/Mute: no speaker")
    }

    @Test(arguments: [true, false]) mutating func undoNamesTheOriginAndAsksInAConflict(_ canBeForced: Bool) {
        harness.type("u")
        harness.answer("undo mine", ["Content/Text/Size = 16 # was 70"], status: "ok rev 5 undid 4 by uid 1000")
        #expect(harness.notice == "undid 4 by uid 1000: Content/Text/Size = 16")
        harness.answer("get Content/Text/Size", status: "error unknown-tweak gone")
        harness.type("u")
        let error =
            #"{"code":"conflict","message":"Size hat sich geändert; sieh nach","path":"Content/Text/Size","#
            + #""force":\#(canBeForced)}"#
        harness.answer("undo mine", status: "{\"ok\":false,\"error\":\(error)}")
        #expect(harness.frame().text.contains("Size hat sich geändert. Do it anyway?") == canBeForced)
        harness.type("y")
        #expect(harness.lines == (canBeForced ? ["undo mine force"] : []))
    }
}
