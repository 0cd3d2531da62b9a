// Tests of `tweakctl bake`: overrides become defaults in the source, everything else is left and named.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct BakeTests {
    private let fixture: TweakctlFixture
    private let registry = TweakRegistry()
    private let size: Tweak<Double>
    private let count: Tweak<Int>
    private let token: Tweak<String>

    private static let text = """
        // The look.
        enum Look {
            static let size = Tweak("Label", "Text", "Size", 60.0, in: 10...100)
            static let count = Tweak("Label", "Text", "Count", five)
            static let token = Tweak("Label", "Text", "Token", "x", flags: .secret)
        }

        """

    init() throws {
        fixture = try TweakctlFixture()
        size = Tweak("Label", "Text", "Size", 60.0, in: 10...100, registry: registry, fileID: "App/Look.swift", line: 3)
        count = Tweak("Label", "Text", "Count", 5, registry: registry, fileID: "App/Look.swift", line: 4)
        token = Tweak(
            "Label", "Text", "Token", "x", flags: .secret, registry: registry, fileID: "App/Look.swift", line: 5)
        try fixture.server("bounce", registry: registry)
        try fixture.directory.makeFolder("src/App")
        try fixture.directory.write(Self.text, to: "src/App/Look.swift")
    }

    private var source: String { fixture.directory.file("src") }
    private var file: String { fixture.directory.file("src/App/Look.swift") }
    private var content: String { fixture.directory.read("src/App/Look.swift") ?? "" }

    private static let baked = text.replacingOccurrences(of: "60.0", with: "72.0")
    private var diff: String {
        """
        --- a\(file)
        +++ b\(file)
        @@ -1,6 +1,6 @@
         // The look.
         enum Look {
        -    static let size = Tweak("Label", "Text", "Size", 60.0, in: 10...100)
        +    static let size = Tweak("Label", "Text", "Size", 72.0, in: 10...100)
             static let count = Tweak("Label", "Text", "Count", five)
             static let token = Tweak("Label", "Text", "Token", "x", flags: .secret)
         }

        """
    }

    @Test(arguments: [[], ["--write"]], [[], ["Label"], ["Label/Text/Size"]])
    func aDiffIsPrintedAndWrittenOnRequest(_ options: [String], _ pattern: [String]) throws {
        try size.set(72)
        let result = try fixture.run(["bounce", "bake"] + options + pattern + [source])
        #expect(result.code == 0 && result.output == diff, "\(result)")
        #expect(content == (options.isEmpty ? Self.text : Self.baked))
        let remark =
            options.isEmpty
            ? "1 new default in 1 file can be written; --write does it" : "tweakctl bounce modified --stale"
        #expect(result.errors.contains(remark))
    }

    @Test func whatCannotBeWrittenIsListedWithItsPlace() throws {
        try size.set(72)
        try count.set(6)
        let result = try fixture.run("bounce", "bake", "--write", source)
        let problem = "tweakctl: \(file):4: Label/Text/Count has a default that is not written out as a value"
        #expect(result.hasError(problem, code: 1) && result.output == diff && content == Self.baked, "\(result)")
    }

    @Test func otherLayersAndSecretsAreLeft() throws {
        try token.set("y")
        try registry["Label/Text/Size"]?.set(.number(72), for: .seconds(1_000))
        let result = try fixture.run("bounce", "bake", source)
        #expect(result.code == 0 && result.output == "", "\(result)")
        #expect(result.errors.contains("Label/Text/Token is secret, and no secret is written into source"))
        #expect(
            result.errors.contains("Label/Text/Size has a temporary override; keep it first, or wait until it ends"))
    }

    @Test func anOverrideOfTheConfigFileIsNoOverride() throws {
        let path = fixture.directory.file("look.conf")
        try "Label/Text/Size = 72\n".write(toFile: path, atomically: true, encoding: .utf8)
        let run = fixture.directory.file("run")
        try fixture.daemon(
            "other", registry: registry,
            environment: ["XDG_RUNTIME_DIR": run, "HOME": "/nonexistent", "LANG": "C", "TWEAKS_CONFIG": path])
        let result = try fixture.run("other", "bake", source)
        #expect(
            result.code == 0
                && result.errors.contains("has its value from the layer config file; only overrides are baked"),
            "\(result)")
    }

    @Test func jsonIsOneObject() throws {
        try size.set(72)
        try count.set(6)
        let result = try fixture.run("bounce", "bake", source, "--json")
        let json = try #require(JSON(result.output))
        #expect(result.code == 1 && json["ok"] == .bool(false) && json["written"] == .bool(false))
        #expect(json["files"]?.elements.first?["diff"]?.string == diff)
        #expect(json["files"]?.elements.first?["tweaks"] == .array([.string("Label/Text/Size")]))
        #expect(json["problems"]?.elements.count == 1)
    }

    @Test(arguments: [
        (["bake", "--wrte"], "did you mean --write?", 2), (["bake", "Labl", "Nothing"], "are no files or folders", 2),
        (["bake", "Labl"], "nor is it a file or folder", 1),
    ])
    func aMistakeIsAnError(_ words: [String], _ text: String, _ code: Int32) throws {
        #expect(try fixture.run(["bounce"] + words).hasError(text, code: code))
    }

    /// After the build the overrides equal their defaults.
    @Test func staleOverridesAreListedWithTheCommandThatDropsThem() throws {
        try size.set(60)
        try count.set(6)
        let result = try fixture.run("bounce", "modified", "--stale")
        #expect(result.output.hasPrefix("Label/Text/Size = 60 ") && result.output.splitLines().dropLast().count == 1)
        #expect(result.errors.contains("to drop them: tweakctl bounce reset 'Label/Text/Size'\n"), "\(result)")
        #expect(try fixture.run("bounce", "modified", "--stale", "Label/Text/Count").errors == "")
        size.reset()
        #expect(try fixture.run("bounce", "modified", "--stale").output == "")
    }

    @Test func completionOffersPathsFilesAndTheOption() throws {
        func candidates(_ words: String...) throws -> [String] {
            try fixture.run(["__complete", "--timeout", "5m", "bounce"] + words).output.splitLines().dropLast()
        }
        #expect(try candidates("ba") == ["bake", "backup"] && candidates("bak") == ["bake"])
        #expect(
            try candidates("bake", "--w") == ["--write"] && candidates("bake", "Label/Text/S") == ["Label/Text/Size"])
        #expect(try candidates("bake", source + "/A") == [source + "/App/"])
    }
}

/// A server that answers with places and values of its own choice.
@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct HostileBakeTests {
    private static let descriptions = [
        "\"source\":\"../../etc/passwd.swift:1\"", "\"source\":\"/etc/Look.swift:3\"",
        "\"source\":\"App/Look.swift:4\"",
        "\"source\":\"App/Look.swift:3\",\"default\":61", "\"source\":\"App/Look.swift:3\",\"kind\":\"list\"",
        "\"source\":\"App/Look.swift:3\",\"max\":1", "\"source\":7",
        "\"source\":\"App/Look.swift:3\",\"path\":\"A/B/D\"",
    ]

    @Test(arguments: descriptions) func nothingIsWritten(_ fields: String) throws {
        let fixture = try TweakctlFixture()
        let server = try FakeServer(fixture.socket("bounce"))
        try fixture.directory.makeFolder("src/App")
        let text = "\n\nlet t = Tweak(\"A\", \"B\", \"C\", 60.0)\n"
        try fixture.directory.write(text, to: "src/App/Look.swift")
        let process = try fixture.start([
            "-s", fixture.socket("bounce"), "bake", "--write", fixture.directory.file("src"),
        ])
        let peer = try server.accept()
        try peer.answer("json on", "{\"ok\":true}")
        try peer.answer(
            "modified", "{\"ok\":true,\"tweaks\":[{\"path\":\"A/B/C\",\"layer\":\"override\"},{\"path\":7},5]}")
        let usual = [("path", "\"A/B/C\""), ("kind", "\"number\""), ("value", "72"), ("default", "60")]
        let others = usual.filter { !fields.contains("\"\($0.0)\":") }.map { "\"\($0.0)\":\($0.1)" }
        try peer.answer("describe \"A/B/C\"", "{\"ok\":true,\((others + [fields]).joined(separator: ","))}")
        let result = try process.result()
        #expect(result.code == 1 && result.output == "" && result.errors.hasPrefix("tweakctl: "), "\(result)")
        #expect(fixture.directory.read("src/App/Look.swift") == text)
    }
}
