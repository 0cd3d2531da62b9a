// Tests of `modified --stale`: overrides that equal their default, and whose removal changes no value.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct StaleOverrideTests {
    private let registry = TweakRegistry()
    private let server: TestServer

    init() throws {
        for name in ["Default", "Other", "None", "Temporary", "File", "Same", "Under"] {
            _ = try registry.register("A", "B", name, 5)
        }
        _ = try registry.register("A", "B", "Secret", "x", flags: .secret)
        _ = try registry.register("A", "B", "Figure", 5, flags: .readOnly)
        server = try TestServer(registry: registry)
    }

    /// The paths in a reply.
    private func ask(_ line: String) throws -> [String] {
        try server.connect().ask(line).dropLast().map { String($0.prefix { $0 != " " }) }
    }

    @Test func onlyOverridesThatChangeNothingAreStale() throws {
        let entries = [("A/B/File", "6"), ("A/B/Same", "5"), ("A/B/Under", "6")].map { path, text in
            ConfigEntry(path: path, text: text, line: 1, file: "a.conf")
        }
        #expect(registry.replace(.configFile, with: entries).problems.isEmpty)
        for (name, value) in [("Default", 5), ("Other", 6), ("File", 5), ("Same", 5)] {
            try registry["A/B/\(name)"]?.set(.int(Int64(value)))
        }
        try registry["A/B/Temporary"]?.set(.int(5), for: .seconds(1_000))
        try registry["A/B/Secret"]?.set(.string("x"))
        try registry["A/B/Figure"]?.set(.int(5))
        #expect(try ask("modified --stale") == ["A/B/Default", "A/B/Same"])
        #expect(try ask("modified --stale A/B/D*") == ["A/B/Default"])
        // Clients that read JSON have it with each listing.
        let listing = try server.connect()
        try listing.send("json on\n")
        _ = try listing.line()
        try listing.send("get A/B\n")
        let tweaks = JSON(try listing.line())?["tweaks"]?.elements ?? []
        let marked = tweaks.filter { $0["stale"] == .bool(true) }.compactMap { $0["path"]?.string }
        #expect(tweaks.count == 9 && marked == ["A/B/Default", "A/B/Same"])
        #expect(try ask("reset A/B/Default A/B/Same").count == 2)
        #expect(try ask("modified --stale") == [])
    }
}
