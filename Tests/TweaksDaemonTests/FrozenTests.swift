// A program of its own, frozen by the environment: .ci/frozen.sh does the same with the trait.

import Foundation
import Testing
import TweaksTestSupport

@Suite(.blocking) struct FrozenTests {
    #if !Frozen
        @Test(.enabled(if: Probe.exists)) func frozenByTheEnvironment() throws {
            let lines = try Probe.run(["TWEAKS_FROZEN": "1"])
            #expect(lines["served"] == ["true"])
            #expect(lines["set"] == ["read-only"])
            #expect(lines["set out of range"] == ["out-of-range"])
            #expect(lines["erased set"] == ["read-only"])
            #expect(lines["commit"] == ["read-only"])
            #expect(lines["group"] == ["3 read-only 3 60.0"])
            #expect(lines["reset"] == ["nil"])
            #expect(lines["frozen"] == ["true"])
            #expect(lines["observed"] == nil)
            // Before and after the sets. A figure goes on: it is no setting.
            #expect(lines["values"]?.count == 4)
            #expect(lines["values"]?[0] == lines["values"]?[2])
            #expect(lines["values"]?[3] == "0.25 seconds 7 1.0 0.25 seconds one 0.5")
            #expect(lines["inline"]?[0] == lines["inline"]?[1])
            #expect(lines["wrapped"]?.count == 2 && lines["wrapped"]?[0] == lines["wrapped"]?[1])
            #expect(lines["wrapped"]?[0].hasPrefix("0.5 ") == true)
        }

        @Test(.enabled(if: Probe.exists)) func notFrozen() throws {
            let lines = try Probe.run([:])
            #expect(lines["set"] == ["ok"])
            #expect(lines["commit"] == ["ok"])
            #expect(lines["frozen"] == ["false"])
            // Of a module that nothing mentions; declared by the start, and not before it.
            #expect(lines["listed before"] == ["0"] && lines["listed"] == ["3"])
            #expect(lines["observed"]?.isEmpty == false)
        }
    #endif
}

/// The executable of Tests/TweaksFrozenProbe, which is built beside the tests.
private enum Probe {
    private final class Marker {}

    private static var url: URL {
        #if canImport(Darwin)
            let products = Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent("TweaksFrozenProbe")
    }

    static var exists: Bool { FileManager.default.isExecutableFile(atPath: url.path) }

    /// What it says, by topic.
    static func run(_ environment: [String: String]) throws -> [String: [String]] {
        let (directory, process, output) = (try TemporaryDirectory(), Process(), Pipe())
        let places = ["XDG_RUNTIME_DIR": directory.path, "XDG_STATE_HOME": directory.path, "HOME": directory.path]
        // Under a sanitizer the child needs what this process was started with.
        let own = ProcessInfo.processInfo.environment.filter { ["LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
        process.executableURL = url
        process.environment = own.merging(places) { $1 }.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let lines = text.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
        return Dictionary(grouping: lines, by: { String($0[0]) }).mapValues { lines in
            lines.map { $0.count < 2 ? "" : String($0[1].dropFirst()) }
        }
    }
}
