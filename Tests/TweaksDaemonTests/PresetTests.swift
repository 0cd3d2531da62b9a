// Tests the preset commands with a real daemon, real files and several sessions.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

extension DaemonFixture {
    var presets: String { "\(state)/presets" }

    /// Writes the file of a preset.
    func savePreset(_ name: String, _ text: String) throws {
        try directory.makeFolder("state/presets")
        try save(text, at: "\(presets)/\(name).conf")
    }

    /// A reply with a fixed time and user.
    func normalizedReply(to line: String, _ client: TestClient) throws -> [String] {
        try client.ask(line).map { line in
            line.replacing(/[0-9-]{10}T[0-9:]{8}Z/, with: "TIME").replacing("uid \(getuid())", with: "uid 1000")
        }
    }
}

@Suite(.blocking) struct PresetTests {
    private let fixture: DaemonFixture
    private var folder: String { fixture.presets }

    init() throws { fixture = try DaemonFixture() }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name).conf", encoding: .utf8)
    }

    @Test func eachInvalidLineIsListedAndPartlySkipsThem() throws {
        try fixture.savePreset(
            "warm",
            """
            Content/Text/Size = 500
            Elsewhere/Far/Beyond = 1
            Content/Text/Alignment = centre
            Player/Audio/Token = hunter2
            Player/Status/Frames = 1
            Player/Audio/Mute = 1
            nonsense
            Content/Text/Fade = 1s
            Content/Text/Fade = 2s

            """)
        let client = try fixture.connect(fixture.start())
        let problems = [
            "  line 1: out-of-range Content/Text/Size: 500 is outside 10...100",
            "  line 2: unknown-tweak there is no tweak “Elsewhere/Far/Beyond”; see ls or find",
            "  line 3: not-a-choice Content/Text/Alignment: “centre” is none of left, center, right; did you mean center?",
            "  line 4: bad-value Player/Audio/Token is a secret, and presets hold none; remove the line, and set it by hand",
            "  line 5: read-only Player/Status/Frames is a figure that the program publishes; it cannot be set",
            "  line 6: bad-value Player/Audio/Mute is an action and has no value; use: run Player/Audio/Mute",
            "  line 7: usage “nonsense” is not an assignment; a config file holds only CATEGORY/COLLECTION/NAME = VALUE",
            "  line 9: conflict Content/Text/Fade is assigned in line 8 already; keep one of them",
        ]
        let refusal =
            "error out-of-range warm: 8 lines do not fit; nothing has changed; load warm partly takes the rest"
        #expect(try client.ask("load warm") == problems + [refusal])
        #expect(try client.ask("swap warm").last?.hasSuffix("nothing has changed; fix them") == true)
        #expect(fixture.registry.revision == 0)
        #expect(
            try client.ask("load warm partly") == ["Content/Text/Fade = 1s      # was 250ms"]
                + problems.map { "  left out, " + $0.dropFirst(2) } + ["ok rev 1 loaded warm, without 8 lines"])
        try client.send("json\nload --only warm\nload warm partly\n")
        _ = try client.line()
        let refused = try client.line()
        #expect(refused.hasPrefix(#"{"ok":false,"error":{"code":"out-of-range","message":"warm: 8 lines do not fit; "#))
        #expect(refused.contains("load --only warm partly takes the rest"))
        #expect(refused.contains(#""problems":[{"line":1,"code":"out-of-range","message":"Content/Text/Size: 500 "#))
        let loaded = try client.line()
        #expect(loaded.hasPrefix(#"{"ok":true,"rev":1,"unchanged":true,"loaded":"warm","leftOut":[{"line":1,"#))
    }

    @Test func overridesThatThePresetDoesNotNameAreListed() throws {
        try fixture.savePreset("warm", "Content/Text/Size = 72\n")
        let client = try fixture.connect(fixture.start())
        try client.ask("Content/Text/Fade = 1s")
        try client.ask("Player/Audio/Token = hunter2")
        let kept = "  Content/Text/Fade keeps its override 1s; warm does not name it"
        let changed = "Content/Text/Size = 72      # was 60"
        #expect(try client.ask("load warm") == [changed, kept, "ok rev 3 loaded warm"])
        #expect(try client.ask("load warm") == [kept, "ok rev 3 unchanged loaded warm"])
        try client.send("json\nload warm\nload --only warm\njson off\n")
        let lines = try client.lines(4)
        #expect(lines[1] == #"{"ok":true,"rev":3,"unchanged":true,"loaded":"warm","lacking":["Content/Text/Fade"]}"#)
        let fade = #"{"path":"Content/Text/Fade","kind":"duration","value":"250ms","was":"1s"}"#
        #expect(lines[2] == #"{"ok":true,"rev":4,"loaded":"warm","tweaks":[\#(fade)]}"#)
        #expect(try client.ask("get Player/Audio/Token")[0].contains("(set)"))
    }

    /// Also right after another change of the same tweak.
    @Test func oneUndoRevertsALoad() throws {
        try fixture.savePreset("warm", "Content/Text/Size = 72\n")
        let client = try fixture.connect(fixture.start())
        try client.send("Content/Text/Size = 50\nload warm\nContent/Text/Size = 51\nundo\nundo\nundo\nhistory 1\n")
        for _ in 0..<3 { _ = try client.reply() }
        for (value, revision) in [(72, 4), (50, 5), (60, 6)] {
            let reply = try client.reply()
            #expect(reply[0].hasPrefix("Content/Text/Size = \(value) "))
            #expect(reply[1].hasPrefix("ok rev \(revision) undid"))
        }
        _ = try client.reply()
    }

    @Test(arguments: [TweakDaemon.Durability.bestEffort, .required])
    func loadedValuesSurviveARestart(_ durability: TweakDaemon.Durability) throws {
        try fixture.savePreset("warm", "Content/Text/Size = 72\nContent/Text/Alignment = right\n")
        let (daemon, client) = try fixture.withClient(fixture.start(durability: durability))
        #expect(try client.ask("load warm").last == "ok rev 1 loaded warm")
        #expect(try fixture.storedPaths() == ["Content/Text/Alignment", "Content/Text/Size"])
        fixture.stop(daemon)
        let tweaks = ExampleTweaks()
        let second = try fixture.start(durability: durability, registry: tweaks.registry)
        #expect(tweaks.size.value == 72)
        let other = try fixture.connect(second)
        #expect(try other.ask("load --only warm") == ["ok rev 1 unchanged loaded warm"])
    }

    @Test func savingReportsWhatIsReplacedAndLeavesSecretsOut() throws {
        let client = try fixture.connect(fixture.start())
        try client.send("Content/Text/Size = 72\nContent/Text/Alignment = left\nPlayer/Audio/Token = hunter2\n")
        for _ in 0..<3 { _ = try client.reply() }
        #expect(try client.ask("save warm") == ["ok saved warm, 2 tweaks, without 1 secret"])
        #expect(try text("warm").hasSuffix("\nContent/Text/Size = 72\nContent/Text/Alignment = left\n"))
        #expect(try !text("warm").contains("hunter2"))
        let replaced = "ok saved warm, 1 tweak, in place of 2 tweaks, saved TIME by uid 1000"
        #expect(try fixture.normalizedReply(to: "save warm Content/Text/Size", client) == [replaced])
        #expect(try client.ask("save warm Nothing").last?.hasPrefix("error unknown-tweak") == true)
        #expect(try client.ask("save cooler-1 Player") == ["ok saved cooler-1, 0 tweaks, without 1 secret"])
        #expect(
            try fixture.normalizedReply(to: "presets", client) == [
                "  cooler-1  0 tweaks, saved TIME by uid 1000, of Player",
                "  warm      1 tweak, saved TIME by uid 1000, of Content/Text/Size", "ok 2 presets",
            ])
        try client.send("json\npresets\nsave warm\njson off\n")
        let lines = try client.lines(4)
        #expect(lines[1].contains(#"{"name":"warm","tweaks":1,"badLines":0,"saved":"2"#))
        #expect(lines[2] == #"{"ok":true,"saved":"warm","count":2,"secrets":1,"replaced":true,"tooLong":[]}"#)
        #expect(try client.ask("delete warm") == ["ok deleted warm"])
        let missing = "error bad-value there is no preset “warm”; presets lists what there is"
        #expect(try client.ask("delete warm") == [missing])
    }

    @Test func concurrentSavesOfOnePresetLeaveOneWholeFile() throws {
        let daemon = try fixture.start()
        let clients = try (0..<4).map { _ in SendableClient(try fixture.connect(daemon)) }
        let replies = LogLines()
        concurrently(4) { number in
            for value in 0..<10 {
                _ = try? clients[number].client.ask("Content/Text/Size = \(10 + 10 * number + value)")
                guard let last = try? clients[number].client.ask("save warm").last else { return }
                replies.note(last)
            }
        }
        #expect(replies.all.count == 40 && replies.all.allSatisfy { $0.hasPrefix("ok saved warm, 1 tweak") })
        #expect(try text("warm").splitLines().filter { $0.hasPrefix("Content/Text/Size = ") }.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["warm.conf"])
    }

    @Test func aFileInPlaceOfTheFolderIsReported() throws {
        let client = try fixture.connect(fixture.start())
        try fixture.save("in the way", at: folder)
        let refusal = "error io the folder presets cannot be opened: Not a directory; check the disk, or name another "
        for line in ["save warm", "load warm", "presets", "delete warm", "diff warm", "swap warm"] {
            #expect(try client.ask(line) == [refusal + "TWEAKS_STATE_DIR"])
        }
        #expect(try client.ask("complete 'load '") == ["ok"])
    }

    @Test(arguments: ["../overrides", "..", "a/b", ".warm", "\"\"", "/etc/passwd", "wärm", "'a b'", #""a\u0000""#])
    func invalidNamesAreRefused(_ name: String) throws {
        let client = try fixture.connect(fixture.start())
        try client.ask("Content/Text/Size = 72")
        for command in ["save", "load", "delete", "diff", "diff a", "swap"] {
            let reply = try client.ask("\(command) \(name)")
            #expect(reply.count == 1 && reply[0].hasPrefix("error bad-value “"), "\(command): \(reply)")
            #expect(reply[0].hasSuffix("use 1–64 of A–Z a–z 0–9 . _ - and no . at the beginning"))
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func namesAndWordsAreCompleted() throws {
        try fixture.savePreset("warm", "")
        try fixture.savePreset("warmer", "")
        let client = try fixture.connect(fixture.start())
        for (line, words) in [
            ("load w", ["warm", "warmer"]), ("swap warme", ["warmer"]), ("delete ", ["warm", "warmer"]),
            ("diff warm w", ["warm", "warmer"]), ("diff warm warmer ", []), ("save w", ["warm", "warmer"]),
            ("save warm Con", ["Content/"]), ("load warm ", ["partly", "--only"]), ("load warm --only ", ["partly"]),
            ("load --only w", ["warm", "warmer"]), ("load --only warm ", ["partly"]), ("swap warm ", ["force"]),
            ("delete warm ", []), ("swa", ["swap"]), ("presets ", []),
        ] {
            #expect(try client.ask("complete \"\(line)\"").dropLast().map { $0.dropFirst(2) } == words.map { $0[...] })
        }
    }

    @Test func aFrozenDaemonHasNoPresets() throws {
        try fixture.savePreset("warm", "Content/Text/Size = 72\n")
        let client = try fixture.connect(fixture.start(["TWEAKS_FROZEN": "1"]))
        for line in ["save warm", "load warm", "presets", "delete warm", "diff warm", "swap warm"] {
            let refusal = "error read-only this process is frozen (TWEAKS_FROZEN); it has no presets"
            #expect(try client.ask(line) == [refusal])
        }
    }

    @Test func withoutAStateDirectoryThereAreNoPresets() throws {
        let client = try fixture.connect(fixture.start(["TWEAKS_STATE_DIR": "off"]))
        #expect(try client.ask("presets").last?.hasPrefix("error io presets need a state directory") == true)
        #expect(!FileManager.default.fileExists(atPath: fixture.state))
    }
}
