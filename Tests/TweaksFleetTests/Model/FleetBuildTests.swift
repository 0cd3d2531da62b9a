// Tests that the declarations of a build validate values as the build itself does.

import Testing
public import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

#if !arch(x86_64) || !os(macOS)
    // A program in another package writes @retroactive before the protocol.
    extension Float16: TweakFloatingPoint {}
#endif

@Suite struct FleetBuildTests {
    /// Registers tweaks of each kind, with all restrictions.
    private static func registry() throws -> TweakRegistry {
        let registry = TweakRegistry()
        _ = try registry.register("K", "Bool", "Plain", true)
        _ = try registry.register("K", "Int", "Plain", 1)
        _ = try registry.register("K", "Int", "Stepped", 10, in: 0...100, step: 5)
        _ = try registry.register("K", "Int", "From", 10, in: 5...)
        _ = try registry.register("K", "Int", "Large", UInt64(1), in: 0 ... .max)
        _ = try registry.register("K", "Int", "Chosen", 5, choices: [5, 6])
        _ = try registry.register("K", "Number", "Plain", 1.5)
        _ = try registry.register("K", "Number", "Stepped", 0.5, in: 0...1, step: 0.1)
        _ = try registry.register("K", "Number", "Extreme", 0.5, in: -1e300...1e300)
        _ = try registry.register("K", "Number", "Float", Float(1.5))
        _ = try registry.register("K", "Number", "Float list", [Float(1.5)])
        _ = try registry.register("K", "Number", "Optional float", Float?.none)
        #if !arch(x86_64) || !os(macOS)
            _ = try registry.register("K", "Number", "Half", Float16(1.5))
        #endif
        _ = try registry.register("K", "Text", "Plain", "a")
        _ = try registry.register("K", "Text", "Short", "a", maxLength: 3)
        _ = try registry.register("K", "Text", "Chosen", "a", choices: ["a", "b c"])
        _ = try registry.register("K", "Color", "Plain", TweakColor.black)
        _ = try registry.register("K", "Duration", "Plain", Duration.seconds(1))
        _ = try registry.register("K", "Duration", "Bounded", .seconds(1), in: .zero ... .seconds(5))
        _ = try registry.register("K", "Point", "Plain", TweakPoint(x: 1, y: 2))
        _ = try registry.register(
            "K", "Point", "Bounded", TweakPoint(x: 1, y: 2), in: TweakPointRange(x: 0...9, y: 0...9))
        _ = try registry.register("K", "Curve", "Plain", TweakCurve.ease)
        _ = try registry.register("K", "List", "Plain", [1, 2])
        _ = try registry.register("K", "List", "Bounded", [1.0], in: 0...9, minLength: 1, maxLength: 2)
        _ = try registry.register("K", "Optional", "Plain", Int?.none)
        _ = try registry.register("K", "Optional", "Bounded", Double?(1), in: 0...9)
        return registry
    }

    private static let values: [TweakValue] = [
        .bool(false), .int(-1), .int(0), .int(5), .int(6), .int(7), .int(100), .int(101), .int(.max), .int(.min),
        .unsigned(.max), .number(0.3), .number(0.35), .number(5), .number(-0.0), .number(1e301), .number(1e39),
        .number(1e-50), .number(65_519), .number(65_520), .number(0x1p-25), .number(0x1.8p-25),
        .number(Double(Float.greatestFiniteMagnitude)), .list([.number(1), .number(1e39)]), .string(""),
        .string("abc"), .string("abcd"), .string("a"), .string("none"), .choice("b c"), .choice("d"), .color(.black),
        .duration(.zero), .duration(.seconds(6)), .duration(.nanoseconds(Int64.min)), .point(TweakPoint(x: 0, y: -1)),
        .curve(.easeIn), .curve(.steps(3)),
        .list([]), .list([.int(1)]), .list([.number(1), .number(10)]), .list([.int(1), .int(2), .int(3)]),
        .list([.string("a")]), .notSet,
    ]

    @Test func `A decoded build validates each value as the registry does`() throws {
        let registry = try Self.registry()
        let build = try FleetBuild(FleetBuild(registry).bytes)
        for node in registry.listing().nodes {
            for value in Self.values {
                let own = build.validate(value, for: node.path)
                let real = registry.refusal(of: node.path, value, in: .fleet)
                #expect((own == nil) == (real == nil), "\(node.path) = \(value): \(own ?? "") / \(real?.message ?? "")")
            }
        }
        #expect(!build.isPartial)
    }

    @Test func `A value that a float cannot hold is refused, and versions without that field ignore it`() throws {
        let registry = TweakRegistry()
        _ = try registry.register("A", "B", "C", Float(1))
        _ = try registry.register("A", "B", "D", 1.0)
        let build = try FleetBuild(FleetBuild(registry).bytes)
        let text =
            #"{"cut":false,"tweaks":[{"path":"A/B/C","kind":"number","initial":1,"bits":32},"#
            + #"{"path":"A/B/D","kind":"number","initial":1}]}"#
        #expect(String(decoding: build.bytes, as: UTF8.self) == text)
        let reason = build.validate(.number(1e39), for: try TweakPath("A/B/C"))
        #expect(reason == "A/B/C: 1e+39 does not fit the type that the program uses, of 32 bits")
        #expect(build.validate(.number(1e39), for: try TweakPath("A/B/D")) == nil)
        let newer = try FleetBuild(utf8(text.replacing("32", with: "24")))
        #expect(newer.validate(.number(1e39), for: try TweakPath("A/B/C")) == nil)
    }

    @Test func `Equal declarations have equal bytes and hashes`() throws {
        let (first, second) = (FleetBuild(try Self.registry()), FleetBuild(try Self.registry()))
        #expect(first.bytes == second.bytes && first.hash == second.hash && first.hash.count == 16)
        #expect(try FleetBuild(first.bytes).hash == first.hash)
        let (one, other) = (TweakRegistry(), TweakRegistry())
        for name in ["b", "a"] { _ = try one.register("A", "B", name, 1) }
        for name in ["a", "b"] { _ = try other.register("A", "B", name, 1) }
        #expect(FleetBuild(one).bytes == FleetBuild(other).bytes)
        _ = try other.register("A", "B", "c", 1)
        #expect(FleetBuild(one).hash != FleetBuild(other).hash)
        let text =
            #"{"cut":false,"tweaks":[{"path":"A/B/a","kind":"int","initial":1},"#
            + #"{"path":"A/B/b","kind":"int","initial":1}]}"#
        #expect(String(decoding: FleetBuild(one).bytes, as: UTF8.self) == text)
    }

    @Test func `Secrets, metrics and actions are refused, and paths that the build lacks are accepted`() throws {
        let registry = TweakRegistry()
        _ = try registry.register("A", "B", "Secret", "x", flags: .secret)
        _ = try registry.register("A", "B", "Figure", 1, flags: .readOnly)
        tweakAction("A", "B", "Action", registry: registry) { _ in "done" }
        let build = try FleetBuild(FleetBuild(registry).bytes)
        let values: [String: TweakValue] = ["Secret": .string("y"), "Figure": .int(2), "Action": .string("y")]
        for (name, value) in values {
            #expect(build.validate(value, for: try TweakPath("A/B/\(name)"))?.contains(name.lowercased()) == true)
        }
        #expect(build.validate(.int(2), for: try TweakPath("A/B/Other")) == nil)
        #expect(!String(decoding: build.bytes, as: UTF8.self).contains("\"x\""))
    }

    @Test func `A build has defaults and texts, but not of secrets and figures`() throws {
        let registry = TweakRegistry()
        let long = String(repeating: "x", count: 2_000)
        _ = try registry.register(
            "A", "B", "Size", 60, in: 1...1_000, scale: .logarithmic, unit: "pt", help: "How large")
        _ = try registry.register("A", "B", "Maybe", Double?.none)
        _ = try registry.register("A", "B", "Long", long)
        _ = try registry.register("A", "B", "Secret", "hunter2", flags: .secret)
        _ = try registry.register("A", "B", "Figure", 7, flags: .readOnly)
        let own = FleetBuild(registry)
        let read = try FleetBuild(own.bytes)
        let size = try TweakPath("A/B/Size")
        let maybe = try TweakPath("A/B/Maybe")
        #expect(read.defaults == [size: .int(60), maybe: .notSet])
        #expect(own.defaults == read.defaults)
        let definition = try #require(read.definition(of: size))
        #expect(definition.unit == "pt" && definition.help == "How large" && definition.scale == .logarithmic)
        #expect(!String(decoding: own.bytes, as: UTF8.self).contains("hunter2"))
    }

    @Test func `A large build omits texts and defaults, then ranges, then paths, and is marked as partial`() throws {
        let registry = TweakRegistry()
        let long = String(repeating: "n", count: 100)
        for number in 0..<1_700 {
            _ = try registry.register("A", "B", "\(long) \(number)", 0, in: -1_000_000...1_000_000)
        }
        let brief = try FleetBuild(FleetBuild(registry).bytes)
        let path = try TweakPath("A/B/\(long) 7")
        #expect(brief.bytes.count <= FleetBuild.maxBytes && !brief.isPartial)
        #expect(
            brief.defaults.isEmpty && brief.validate(.int(.max), for: path) == nil
                && brief.validate(.string(""), for: path) != nil)
        for number in 1_700..<3_400 { _ = try registry.register("A", "B", "\(long) \(number)", 0) }
        let cut = try FleetBuild(FleetBuild(registry).bytes)
        #expect(cut.bytes.count <= FleetBuild.maxBytes && cut.isPartial && cut.definition(of: path) == nil)
        #expect(cut.definition(of: try TweakPath("A/B/\(long) 0"))?.kind == .int)
    }

    @Test func `A path with an unknown kind is skipped, and the build is partial`() throws {
        let text = #"{"cut":false,"tweaks":[{"path":"A/B/C","kind":"matrix","rows":3},{"path":"A/B/D","kind":"int"}]}"#
        let build = try FleetBuild(utf8(text))
        #expect(try build.isPartial && build.definition(of: TweakPath("A/B/D"))?.kind == .int)
        #expect(build.validate(.int(1), for: try TweakPath("A/B/C")) == nil)
    }

    @Test(arguments: [
        "", "[]", #"{"tweaks":7}"#, #"{"tweaks":[7]}"#, #"{"tweaks":[{"path":"A/B","kind":"int"}]}"#,
        #"{"tweaks":[{"path":"A/B/C"}]}"#, #"{"tweaks":[{"path":"A/B/C","kind":"list"}]}"#,
        #"{"tweaks":[{"path":"A/B/C","kind":"int","components":[{"kind":"int"}]}]}"#,
        #"{"tweaks":[{"path":"A/B/C","kind":"int","min":1.5}]}"#,
        #"{"tweaks":[{"path":"A/B/C","kind":"int","min":"1"}]}"#,
        #"{"tweaks":[{"path":"A/B/C","kind":"int","max":1e99}]}"#,
        #"{"tweaks":[{"path":"A/B/C","kind":"int","step":0}]}"#,
        #"{"tweaks":[{"path":"A/B/C","kind":"number","step":-1}]}"#,
        #"{"tweaks":[{"path":"A/B/C","kind":"number","max":1e999}]}"#, #"{"cut":1,"tweaks":[]}"#,
        #"{"tweaks":[{"path":"A/B/C","kind":"choice","choices":[1]}]}"#,
        #"{"tweaks":[{"path":"A/B/C","kind":"string","maxLength":-1}]}"#,
    ])
    func `A malformed build is a problem`(_ text: String) {
        #expect(throws: FleetProblem.self) { try FleetBuild(utf8(text)) }
    }

    @Test func `A build with random changes validates values, or is a problem`() throws {
        var generator = SeededGenerator(seed: 2)
        let registry = try Self.registry()
        let (bytes, paths) = (FleetBuild(registry).bytes, registry.listing().nodes.map(\.path))
        for _ in 0..<4_000 {
            let other = generator.mutated(bytes, byte: 0...127, insert: "0123456789-e.", count: 1)
            guard let build = try? FleetBuild(other) else { continue }
            for value in Self.values.shuffled(using: &generator).prefix(4) {
                for path in paths { _ = build.validate(value, for: path) }
            }
        }
    }
}
