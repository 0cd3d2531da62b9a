// Tests presets as files: writing, reading, copied files, and that no other file is accessed.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct PresetFolderTests {
    private let home: TemporaryDirectory
    private let time = ManualClock()

    init() throws { home = try TemporaryDirectory() }

    private var place: String { home.file("state/presets") }

    private func folder(
        _ files: any FileSystem = PosixFileSystem(), bytes: Int? = nil, holder: String? = nil
    ) -> PresetFolder {
        var limits = PresetFolder.Limits()
        limits.bytes = bytes ?? limits.bytes
        return PresetFolder(
            directory: .success(home.file("state")), program: "bounce", limits: limits, fileSystem: files, time: time,
            holder: { holder })
    }

    private func draft(_ registry: TweakRegistry, pattern: String? = nil) -> PresetDraft {
        registry.snapshot().draft(
            of: registry.listing().nodes, pattern: pattern, origin: .user(1000), lineLimit: 65_536)
    }

    /// Writes a file into the folder of presets.
    private func put(_ name: String, _ text: String) throws {
        try home.makeFolder("state/presets")
        try home.write(text, to: "state/presets/\(name)")
    }

    /// The error of an operation, without the path of the temporary directory.
    private func error(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)".replacing(home.path, with: "")
        }
    }

    @Test func aFolderUsedByAnotherProcessIsReadOnly() throws {
        let tweaks = ExampleTweaks()
        let warm = try PresetName("warm")
        try folder().write(draft(tweaks.registry), as: warm)
        let used = folder(holder: "pid 4711")
        #expect(try used.list().map(\.name.text) == ["warm"] && used.read(warm).entries.isEmpty)
        let refusal =
            "the state directory is used by pid 4711; do it there, or give this process its own TWEAKS_STATE_DIR"
        let saving = error { try used.write(draft(tweaks.registry), as: try PresetName("cold")) }
        #expect(saving == "io the preset cold is not saved: \(refusal)")
        #expect(error { try used.delete(warm) } == "io the preset warm is not deleted: \(refusal)")
        #expect(home.names("state/presets") == ["warm.conf"])
    }

    // MARK: Writing and reading

    @Test func aPresetIsWrittenReplacedAndDeleted() throws {
        let tweaks = ExampleTweaks()
        try tweaks.size.set(72)
        let warm = try PresetName("warm")
        #expect(try folder().write(draft(tweaks.registry, pattern: "Content"), as: warm) == nil)
        #expect(
            home.read("state/presets/warm.conf") == """
                # Tweaks preset, format 1
                # Program: bounce
                # Saved: 2026-11-21T09:30:00Z by uid 1000
                # Pattern: Content
                Content/Text/Size = 72

                """)
        #expect(try home.mode("state/presets") == 0o700 && home.mode("state/presets/warm.conf") == 0o600)
        try tweaks.size.set(73)
        let before = try folder().write(draft(tweaks.registry), as: warm)
        #expect(before?.tweaks == 1 && before?.heading.saved == "2026-11-21T09:30:00Z")
        #expect(before?.heading.by == "uid 1000" && before?.heading.pattern == "Content")
        #expect(try folder().read(warm).entries.map(\.text) == ["73"])
        try folder().delete(warm)
        #expect(try folder().list().isEmpty && home.names("state/presets").isEmpty)
    }

    /// Each kind, and names and values that a terminal, a shell or a line parser could misinterpret.
    @Test func hostileNamesAndValuesRoundTrip() throws {
        let hostile = [
            "", " ", "\"", "'", "\\", "\n", "\r\n", "\0", "#", "= 5", "*", "a\u{202E}b", "\u{2028}", "e\u{301}", "😀",
            "ok rev 1", "HTTP/1.1", "A/B/C = 1", String(repeating: "x", count: 60_000),
        ]
        let (one, two) = (TweakRegistry(), TweakRegistry())
        func declare(_ registry: TweakRegistry) -> [AnyTweak] {
            var all = hostile.indices.map { Tweak("A", "Text", "T\($0)", "none", registry: registry).erased }
            for name in ["a b", "#", "'\"", "=", "*?", "ok", "HTTP", "é", "toggle", "for 5s"] {
                all.append(Tweak(name, "\(name)", name, 0, registry: registry).erased)
            }
            all.append(Tweak("K", "K", "Bool", false, registry: registry).erased)
            all.append(Tweak("K", "K", "Int", Int64(0), registry: registry).erased)
            all.append(Tweak("K", "K", "Number", 0.0, registry: registry).erased)
            all.append(Tweak("K", "K", "Color", TweakColor.black, registry: registry).erased)
            all.append(Tweak("K", "K", "Curve", TweakCurve.linear, registry: registry).erased)
            all.append(Tweak("K", "K", "Choice", "x y", choices: ["x y", "\"", "#"], registry: registry).erased)
            all.append(Tweak("K", "K", "Duration", Duration.zero, registry: registry).erased)
            return all
        }
        let values: [TweakValue] =
            hostile.map { .string($0) } + (0..<10).map { .int(Int64($0) + 1) }
            + [
                .bool(true), .int(.min), .number(-.leastNonzeroMagnitude),
                .color(.init(red8: 1, green8: 2, blue8: 3, alpha8: 4)), .curve(TweakCurve(0.2, 1.5, 0, 1)),
                .choice("#"), .duration(.nanoseconds(Int64.max)),
            ]
        let tweaks = declare(one)
        #expect(tweaks.count == values.count)
        for (tweak, value) in zip(tweaks, values) { try tweak.set(value) }
        let name = try PresetName("all")
        try folder().write(draft(one), as: name)
        let others = declare(two)
        let plan = PresetPlan(try folder().read(name), TweakView(two))
        #expect(plan.problems.isEmpty, "\(plan.problems)")
        try two.commit(plan.batch(only: true).batch, origin: .code, delivery: .caller)
        #expect(others.map(\.value) == values.map { Optional($0) })
        #expect(two.revision == 1)
    }

    // MARK: Files from elsewhere

    @Test func copiedFilesAreListedAndRead() throws {
        try put(
            "mailed.conf", "\u{FEFF}# Tweaks preset, format 1\r\n# Saved: 2026-01-02T03:04:05Z by Jo\r\nA/B/C = 1\r\n")
        try put("typed.conf", "A/B/C = 1 # by hand\n\nnonsense\nget A/B/C\nok rev 5\nA/B/D = \"x\n")
        try put("empty.conf", "")
        try put("notes.txt", "A/B/C = 1\n")
        try put(".hidden.conf", "A/B/C = 1\n")
        try put("a b.conf", "A/B/C = 1\n")
        let list = try folder().list()
        #expect(list.map(\.name.text) == ["empty", "mailed", "typed"])
        #expect(list.map(\.tweaks) == [0, 1, 1] && list.map(\.badLines) == [0, 0, 3])
        #expect(list.map(\.heading.by) == [nil, "Jo", nil])
        #expect(folder().names() == ["empty", "mailed", "typed"])
        let typed = try folder().read(try PresetName("typed"))
        #expect(typed.problems.map(\.line) == [3, 4, 6])
        #expect(typed.problems.map(\.error.code) == [.usage, .usage, .badQuoting])
    }

    /// The heading may come from another user.
    @Test func aHostileHeadingIsHarmless() throws {
        let long = String(repeating: "x", count: 5_000)
        let heading = "# Saved: 2026-01-02T03:04:05Z by \u{1B}[2J\u{202E}\n# Pattern: \(long)\n# Saved: yesterday by me"
        try put("evil.conf", "\(heading)\nA/B/C = 1\n")
        let summary = try #require(try folder().list().first)
        #expect(summary.heading.by == nil && summary.heading.saved == nil && summary.tweaks == 1)
        #expect(summary.heading.pattern?.count == 128)
    }

    @Test func aNewerVersionIsRefused() throws {
        try put("new.conf", "# Tweaks preset, format 2\nA/B/C = 1\n")
        #expect(error { _ = try folder().read(try PresetName("new")) }?.contains("newer version (format 2") == true)
        #expect(try folder().list().first?.failure?.contains("newer version") == true)
    }

    @Test func linksAreNotFollowed() throws {
        try put("real.conf", "A/B/C = 1\n")
        try home.write("A/B/C = 1\n", to: "secret")
        symlink(home.file("secret"), "\(place)/evil.conf")
        try home.makeFolder("state/presets/dir.conf")
        let evil = try PresetName("evil")
        let refusal = "it is a symbolic link, which is not followed; put the file itself there"
        #expect(error { _ = try folder().read(evil) } == "io the preset evil cannot be read: \(refusal)")
        #expect(error { _ = try folder().read(try PresetName("dir")) }?.contains("not a regular file") == true)
        #expect(try folder().list().map { $0.failure == nil } == [false, false, true])
        // Writing replaces the link, not its target.
        let tweaks = ExampleTweaks()
        try tweaks.size.set(72)
        try folder().write(draft(tweaks.registry), as: evil)
        #expect(try folder().read(evil).entries.count == 1)
        #expect(home.read("secret") == "A/B/C = 1\n")
    }

    @Test func aFolderThatIsALinkIsRefused() throws {
        for name in ["state", "elsewhere"] { try home.makeFolder(name) }
        symlink(home.file("elsewhere"), place)
        let expected = "io the folder presets is a symbolic link, which is not followed; make it a folder"
        #expect(error { _ = try folder().list() } == expected)
        #expect(error { try folder().write(draft(TweakRegistry()), as: try PresetName("x")) } == expected)
        #expect(home.names("elsewhere").isEmpty)
    }

    @Test func aFolderThatOthersCanWriteIsRefused() throws {
        try put("warm.conf", "A/B/C = 1\n")
        chmod(place, 0o777)
        let refusal = "io others can write in /state/presets; chmod 700 it, or name another TWEAKS_STATE_DIR"
        #expect(error { _ = try folder().list() } == refusal)
    }

    // MARK: Limits

    @Test func aMissingPresetIsReportedWithASuggestion() throws {
        #expect(try folder().list().isEmpty && folder().names().isEmpty && home.names() == [])
        let warm = try PresetName("warm")
        let none = "bad-value there is no preset “warm”; presets lists what there is"
        #expect(error { _ = try folder().read(warm) } == none && error { try folder().delete(warm) } == none)
        try put("warmer.conf", "")
        #expect(error { try folder().delete(warm) } == "bad-value there is no preset “warm”; did you mean warmer?")
    }

    @Test func theNumberOfPresetsIsLimited() throws {
        for number in 0..<PresetFolder.Limits().presets { try put("p\(number).conf", "") }
        let draft = draft(TweakRegistry())
        let refusal = error { try folder().write(draft, as: try PresetName("one-more")) }
        #expect(refusal == "too-many there are 1000 presets already; delete one of them")
        #expect(error { try folder().write(draft, as: try PresetName("p7")) } == nil)
    }

    @Test func theSizeOfAPresetIsLimited() throws {
        let (folder, long) = (folder(bytes: 1_000_000), try PresetName("long"))
        try put("long.conf", String(repeating: "#\n", count: 500_000) + "#")
        #expect(error { _ = try folder.read(long) }?.hasPrefix("too-long") == true)
        let registry = TweakRegistry()
        let text = String(repeating: "x", count: 60_000)
        for number in 0..<20 { try Tweak("A", "B", "T\(number)", "", registry: registry).set(text) }
        let refusal = error { try folder.write(draft(registry), as: long) }
        #expect(refusal?.hasPrefix("too-long the preset long would have ") == true)
    }

    @Test func withoutADirectoryThereAreNoPresets() throws {
        let folder = PresetFolder(directory: .failure(StateLocation.Problem("HOME is not set")), program: "x")
        #expect(error { _ = try folder.list() } == "io there is no place for presets: HOME is not set")
        #expect(folder.names().isEmpty)
    }
}
