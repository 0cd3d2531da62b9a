// Presets as people use them: a real daemon, real files, several sessions.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

extension Station {
    /// The folder of the presets.
    var presets: String { "\(state)/presets" }

    /// Puts a preset there as somebody does who has got it by mail.
    func put(_ name: String, _ text: String) throws {
        try FileManager.default.createDirectory(
            atPath: presets, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try save(text, at: "\(presets)/\(name).conf")
    }

    /// An answer without whatever differs from run to run.
    func ask(_ client: TestClient, _ line: String) throws -> [String] {
        try client.ask(line).map { line in
            line.replacing(/[0-9-]{10}T[0-9:]{8}Z/, with: "TIME").replacing("uid \(getuid())", with: "uid 1000")
        }
    }
}

@Suite(.blocking) struct PresetConversationTests {
    private let station: Station
    private var folder: String { station.presets }

    init() throws { station = try Station() }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name).conf", encoding: .utf8)
    }

    // MARK: Loading

    @Test func eachLineThatDoesNotFit() throws {
        try station.put(
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
        let daemon = try station.start()
        let client = try station.connect(daemon)
        let problems = [
            "  line 1: out-of-range Content/Text/Size: 500 is outside 10...100",
            "  line 2: unknown-tweak there is no tweak “Elsewhere/Far/Beyond”; see ls or find",
            "  line 3: not-a-choice Content/Text/Alignment: “centre” is none of left, center, right; did you mean center?",
            "  line 4: bad-value Player/Audio/Token is a secret, and presets hold none; take the line out, and set it by hand",
            "  line 5: read-only Player/Status/Frames is a figure that the program publishes; it cannot be set",
            "  line 6: bad-value Player/Audio/Mute is an action and has no value; use: run Player/Audio/Mute",
            "  line 7: unknown-command “nonsense” is not a command; type help",
            "  line 9: conflict Content/Text/Fade is assigned in line 8 already; keep one of them",
        ]
        #expect(
            try client.ask("load warm") == problems + [
                "error out-of-range warm: 8 lines do not fit; nothing has changed; load warm partly takes the rest"
            ])
        #expect(try client.ask("swap warm").last?.hasSuffix("nothing has changed; mend them") == true)
        #expect(station.registry.revision == 0)
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
        station.stop(daemon)
    }

    @Test func whatItLacks() throws {
        try station.put("warm", "Content/Text/Size = 72\n")
        let daemon = try station.start()
        let client = try station.connect(daemon)
        try client.ask("Content/Text/Fade = 1s")
        try client.ask("Player/Audio/Token = hunter2")
        #expect(
            try client.ask("load warm") == [
                "Content/Text/Size = 72      # was 60",
                "  Content/Text/Fade keeps its override 1s; warm does not name it", "ok rev 3 loaded warm",
            ])
        #expect(
            try client.ask("load warm") == [
                "  Content/Text/Fade keeps its override 1s; warm does not name it", "ok rev 3 unchanged loaded warm",
            ])
        try client.send("json\nload warm\nload --only warm\njson off\n")
        let lines = try client.lines(4)
        #expect(lines[1] == #"{"ok":true,"rev":3,"unchanged":true,"loaded":"warm","lacking":["Content/Text/Fade"]}"#)
        #expect(
            lines[2]
                == #"{"ok":true,"rev":4,"loaded":"warm","tweaks":[{"path":"Content/Text/Fade","kind":"duration","value":"250ms","was":"1s"}]}"#
        )
        #expect(try client.ask("get Player/Audio/Token")[0].contains("(set)"))
        station.stop(daemon)
    }

    /// One commit: one undo takes it back, even one that comes at once behind another change of the same tweaks.
    @Test func undo() throws {
        try station.put("warm", "Content/Text/Size = 72\n")
        let daemon = try station.start()
        let client = try station.connect(daemon)
        try client.send("Content/Text/Size = 50\nload warm\nContent/Text/Size = 51\nundo\nundo\nundo\nhistory 1\n")
        for _ in 0..<3 { _ = try client.reply() }
        for (value, revision) in [(72, 4), (50, 5), (60, 6)] {
            let reply = try client.reply()
            #expect(reply[0].hasPrefix("Content/Text/Size = \(value) "))
            #expect(reply[1].hasPrefix("ok rev \(revision) undid"))
        }
        _ = try client.reply()
        station.stop(daemon)
    }

    @Test(arguments: [TweakDaemon.Durability.bestEffort, .required]) func survivesARestart(
        _ durability: TweakDaemon.Durability
    ) throws {
        try station.put("warm", "Content/Text/Size = 72\nContent/Text/Alignment = right\n")
        let daemon = try station.start(durability: durability)
        let client = try station.connect(daemon)
        #expect(try client.ask("load warm").last == "ok rev 1 loaded warm")
        #expect(try station.storedPaths() == ["Content/Text/Alignment", "Content/Text/Size"])
        station.stop(daemon)
        let tweaks = ExampleTweaks()
        let second = try station.start(durability: durability, registry: tweaks.registry)
        #expect(tweaks.size.value == 72)
        let other = try station.connect(second)
        #expect(try other.ask("load --only warm") == ["ok rev 1 unchanged loaded warm"])
        station.stop(second)
    }

    // MARK: Saving

    @Test func saving() throws {
        let daemon = try station.start()
        let client = try station.connect(daemon)
        try client.send("Content/Text/Size = 72\nContent/Text/Alignment = left\nPlayer/Audio/Token = hunter2\n")
        for _ in 0..<3 { _ = try client.reply() }
        #expect(try client.ask("save warm") == ["ok saved warm, 2 tweaks, without 1 secret"])
        #expect(try text("warm").hasSuffix("\nContent/Text/Size = 72\nContent/Text/Alignment = left\n"))
        #expect(try !text("warm").contains("hunter2"))
        #expect(
            try station.ask(client, "save warm Content/Text/Size") == [
                "ok saved warm, 1 tweak, in place of 2 tweaks, saved TIME by uid 1000"
            ])
        #expect(try client.ask("save warm Nothing").last?.hasPrefix("error unknown-tweak") == true)
        #expect(try client.ask("save cooler-1 Player") == ["ok saved cooler-1, 0 tweaks, without 1 secret"])
        #expect(
            try station.ask(client, "presets") == [
                "  cooler-1  0 tweaks, saved TIME by uid 1000, of Player",
                "  warm      1 tweak, saved TIME by uid 1000, of Content/Text/Size", "ok 2 presets",
            ])
        try client.send("json\npresets\nsave warm\njson off\n")
        let lines = try client.lines(4)
        #expect(lines[1].contains(#"{"name":"warm","tweaks":1,"badLines":0,"saved":"2"#))
        #expect(lines[2] == #"{"ok":true,"saved":"warm","count":2,"secrets":1,"replaced":true,"tooLong":[]}"#)
        #expect(try client.ask("delete warm") == ["ok deleted warm"])
        #expect(
            try client.ask("delete warm") == ["error bad-value there is no preset “warm”; presets lists what there is"])
        station.stop(daemon)
    }

    @Test func twoSaveTheSameAtOnce() throws {
        let daemon = try station.start()
        let clients = try (0..<4).map { _ in SentOver(try station.connect(daemon)) }
        let answered = Answered()
        concurrently(4) { number in
            for value in 0..<10 {
                _ = try? clients[number].client.ask("Content/Text/Size = \(10 + 10 * number + value)")
                guard let last = try? clients[number].client.ask("save warm").last else { return }
                answered.add(last)
            }
        }
        #expect(answered.all.count == 40)
        #expect(answered.all.allSatisfy { $0.hasPrefix("ok saved warm, 1 tweak") })
        #expect(try text("warm").splitLines().filter { $0.hasPrefix("Content/Text/Size = ") }.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["warm.conf"])
        station.stop(daemon)
    }

    @Test func whatTheDiskRefuses() throws {
        let daemon = try station.start()
        let client = try station.connect(daemon)
        try station.save("in the way", at: folder)
        let refusal =
            "error io the folder presets cannot be opened: Not a directory; look after the disk, or name "
            + "another TWEAKS_STATE_DIR"
        for line in ["save warm", "load warm", "presets", "delete warm", "diff warm", "swap warm"] {
            #expect(try client.ask(line) == [refusal])
        }
        #expect(try client.ask("complete 'load '") == ["ok"])
        station.stop(daemon)
    }

    // MARK: Names

    @Test(arguments: ["../overrides", "..", "a/b", ".warm", "\"\"", "/etc/passwd", "wärm", "'a b'", #""a\u0000""#])
    func namesThatAreNone(_ name: String) throws {
        let daemon = try station.start()
        let client = try station.connect(daemon)
        try client.ask("Content/Text/Size = 72")
        for line in [
            "save \(name)", "load \(name)", "delete \(name)", "diff \(name)", "diff a \(name)", "swap \(name)",
        ] {
            let answer = try client.ask(line)
            #expect(answer.count == 1 && answer[0].hasPrefix("error bad-value “"), "\(line): \(answer)")
            #expect(answer[0].hasSuffix("use 1–64 of A–Z a–z 0–9 . _ - and no . at the beginning"))
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
        station.stop(daemon)
    }

    @Test func completion() throws {
        try station.put("warm", "")
        try station.put("warmer", "")
        let daemon = try station.start()
        let client = try station.connect(daemon)
        for (line, words) in [
            ("load w", ["warm", "warmer"]), ("swap warme", ["warmer"]), ("delete ", ["warm", "warmer"]),
            ("diff warm w", ["warm", "warmer"]), ("diff warm warmer ", []), ("save w", ["warm", "warmer"]),
            ("save warm Con", ["Content/"]), ("load warm ", ["partly", "--only"]), ("load warm --only ", ["partly"]),
            ("load --only w", ["warm", "warmer"]), ("load --only warm ", ["partly"]), ("swap warm ", ["force"]),
            ("delete warm ", []), ("swa", ["swap"]), ("presets ", []),
        ] {
            #expect(try client.ask("complete \"\(line)\"").dropLast().map { $0.dropFirst(2) } == words.map { $0[...] })
        }
        station.stop(daemon)
    }

    // MARK: Without files

    @Test func frozen() throws {
        try station.put("warm", "Content/Text/Size = 72\n")
        let daemon = try station.start(nil, ["TWEAKS_FROZEN": "1"])
        let client = try station.connect(daemon)
        for line in ["save warm", "load warm", "presets", "delete warm", "diff warm", "swap warm"] {
            #expect(
                try client.ask(line) == ["error read-only this process is frozen (TWEAKS_FROZEN); it has no presets"])
        }
        station.stop(daemon)
    }

    @Test func withoutAStateDirectory() throws {
        let daemon = try station.start(nil, ["TWEAKS_STATE_DIR": "off"])
        let client = try station.connect(daemon)
        #expect(try client.ask("presets").last?.hasPrefix("error io presets need a state directory") == true)
        #expect(!FileManager.default.fileExists(atPath: station.state))
        station.stop(daemon)
    }
}
