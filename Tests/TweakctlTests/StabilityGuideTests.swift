// Tests that the guide Versions and stability names all that is public.

import Testing
import TweaksSystem
import TweaksTestSupport

@testable import tweakctl

struct StabilityGuideTests {
    private let guide: String

    init() throws { guide = try Document("Sources/Tweaks/Tweaks.docc/VersionsAndStability.md").text }

    @Test func everyProductAndTraitIsNamed() throws {
        let manifest = try Document("Package.swift").text.splitLines()
        let names = [".library(name: ", ".executable(name: ", ".trait(name: "].map { start in
            manifest.filter { $0.contains(start) }.map { String($0.split(separator: "\"")[1]) }
        }
        #expect(names.allSatisfy { $0.count >= 2 })
        for name in names.joined() { #expect(guide.contains("`\(name)`"), "\(name)") }
    }

    @Test func everyExitCodeIsNamed() throws {
        let line = try #require(guide.splitLines().first { $0.hasPrefix("Exit codes are ") })
        #expect(line.matches(of: /\d+/).map { Int32($0.output) } == Usage.exitCodes.map(\.0.rawValue))
    }
}
