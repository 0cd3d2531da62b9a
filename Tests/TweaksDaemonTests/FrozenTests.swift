// Tests a frozen process by TWEAKS_FROZEN; .ci/frozen.sh tests the trait.

import Foundation
import Testing
import TweaksTestSupport

@Suite(.blocking) struct FrozenTests {
    #if !Frozen
        @Test(.enabled(if: Probe.exists)) func theEnvironmentFreezesAllTweaks() throws {
            let lines = try Probe.run(["TWEAKS_FROZEN": "1"])
            for (topic, value) in [
                ("served", "true"), ("set", "read-only"), ("set out of range", "out-of-range"),
                ("erased set", "read-only"), ("commit", "read-only"), ("group", "3 read-only 3 60.0"),
                ("reset", "nil"), ("frozen", "true"),
            ] { #expect(lines[topic] == [value], "\(topic)") }
            #expect(lines["observed"] == nil)
            // Before and after the sets. A read-only tweak still changes.
            #expect(lines["values"]?.count == 4)
            #expect(lines["values"]?[0] == lines["values"]?[2])
            #expect(lines["values"]?[3] == "0.25 seconds 7 1.0 0.25 seconds one 0.5")
            #expect(lines["inline"]?[0] == lines["inline"]?[1])
            #expect(lines["wrapped"]?.count == 2 && lines["wrapped"]?[0] == lines["wrapped"]?[1])
            #expect(lines["wrapped"]?[0].hasPrefix("0.5 ") == true)
        }

        @Test(.enabled(if: Probe.exists)) func withoutTheVariableTweaksChange() throws {
            let lines = try Probe.run([:])
            #expect(lines["set"] == ["ok"] && lines["commit"] == ["ok"] && lines["frozen"] == ["false"])
            // The tweaks of a module that the program never uses are declared by the start.
            #expect(lines["listed before"] == ["0"] && lines["listed"] == ["3"])
            #expect(lines["observed"]?.isEmpty == false)
        }
    #endif
}

/// The executable of Tests/TweaksFrozenProbe.
private enum Probe {
    static let exists = BuiltProgram.exists("TweaksFrozenProbe")

    /// Runs the probe and returns the printed values by topic.
    static func run(_ environment: [String: String]) throws -> [String: [String]] {
        let directory = try TemporaryDirectory()
        let paths = ["XDG_RUNTIME_DIR": directory.path, "XDG_STATE_HOME": directory.path, "HOME": directory.path]
        let variables = BuiltProgram.environment.merging(paths) { $1 }.merging(environment) { $1 }
        let result = try RunningProgram(
            BuiltProgram.path("TweaksFrozenProbe"), environment: variables, errors: .dropped
        ).result()
        #expect(result.code == 0)
        let lines = result.output.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
        return Dictionary(grouping: lines, by: { String($0[0]) }).mapValues { lines in
            lines.map { $0.count < 2 ? "" : String($0[1].dropFirst()) }
        }
    }
}
