// Fuzzes config files: they apply completely or not at all, and exports reproduce the values.

import Tweaks
import TweaksStorage
import TweaksWire

/// A config file for a registry. The first byte selects the policy.
enum ConfigTarget {
    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let text = Array(bytes.dropFirst())
        _ = StateFileCodec.isPreset(text)
        let file = ConfigFile(text, name: "fuzz.conf")
        let policy = LayerPolicy(unknownIsError: choice & 1 == 1, dropsOverrides: choice & 2 == 2)
        let samples = Samples()
        let before = values(samples)
        let dry = samples.registry.replace(.configFile, with: file.entries, policy, isDry: true)
        try expect(values(samples) == before, "a dry run has changed something")
        let difference = samples.registry.replace(.configFile, with: file.entries, policy)
        try expect(
            difference.problems == dry.problems,
            "the dry run found \(dry.problems), the real one \(difference.problems)")
        try expect(difference.changes.count == dry.changes.count, "the dry run has another difference")
        if !difference.problems.isEmpty { try expect(values(samples) == before, "a bad file has changed something") }
        let again = samples.registry.replace(.configFile, with: file.entries, policy)
        if difference.problems.isEmpty { try expect(!again.didCommit, "the same file twice makes a change") }
        if difference.didCommit { try checkExport(samples) }
    }

    private static func values(_ samples: Samples) -> [TweakValue?] {
        samples.nodes.map { samples.registry.current($0) }
    }

    /// The lines of an export are a config file that gives the same values.
    private static func checkExport(_ samples: Samples) throws(Finding) {
        var bytes: [UInt8] = []
        for node in samples.nodes {
            TweakLine(node, samples.registry.current(node), .none).append(to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        let file = ConfigFile(bytes, name: "export.conf")
        try expect(file.problems.isEmpty, "an export has problems: \(file.problems)")
        try expect(file.entries.count == samples.nodes.count, "an export has \(file.entries.count) assignments")
        let others = Samples()
        let problems = others.registry.replace(.configFile, with: file.entries).problems
        try expect(problems.isEmpty, "an export is rejected: \(problems)")
        try expect(values(others) == values(samples), "an export gives other values")
    }
}
