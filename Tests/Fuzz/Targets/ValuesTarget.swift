// Fuzzes typed values of every kind of tweak: read, validated, adjusted, added, and forecast, without a server.

import Tweaks

/// Values that the grammar builds, each for every tweak with another one as the current value.
enum ValuesTarget {
    static func run(_ choices: inout Choices) throws(Finding) {
        let samples = Samples()
        repeat {
            let text = String(decoding: choices.mutated(choices.value()), as: UTF8.self)
            let json = JSON(choices.json())
            for node in samples.nodes {
                try check(text, node, samples.registry, commits: choices.below(8) == 0)
                if let value = json.flatMap({ try? node.read($0) }) { try check(value, node) }
            }
        } while !choices.isAtEnd
    }

    private static func check(
        _ text: String, _ node: TweakNode, _ registry: TweakRegistry, commits: Bool
    ) throws(Finding) {
        if let value = try? node.read(text, from: .file) { try check(value, node) }
        guard let value = try? node.read(text, from: .typed) else { return }
        try check(value, node)
        for change in [TweakBatch.Change.set(value), .add(value), .subtract(value)] {
            var batch = TweakBatch()
            batch.append(node, change)
            guard let forecast = try? registry.forecast(batch).first else { continue }
            try checkValid(forecast.new, node, "\(change) of \(forecast.old)")
            if commits { _ = try? registry.commit(batch, origin: .code, delivery: .caller) }
        }
    }

    /// A value is printed so that it can be read again, and a value that was adjusted needs no second adjustment.
    private static func check(_ value: TweakValue, _ node: TweakNode) throws(Finding) {
        for policy in [TweakPolicy.reject, .clamp, .snap] {
            guard let valid = try? node.definition.validate(value, for: node.path, policy: policy) else { continue }
            try checkValid(valid.value, node, "\(value) by \(policy)")
        }
    }

    private static func checkValid(_ value: TweakValue, _ node: TweakNode, _ source: String) throws(Finding) {
        let again = try? node.definition.validate(value, for: node.path, policy: .reject)
        let isUnchanged = again?.adjustment == TweakAdjustment.none
        try expect(isUnchanged, "\(node.path): \(source) gives \(value), which is refused")
        guard ![.string, .choice].contains(value.kind) else { return }
        let read = try? node.read(value.text, from: .file)
        // In JSON, because a list of choices can hold their names as strings.
        try expect(read?.json == value.json, "\(node.path): \(value) is read as \(read.map { "\($0)" } ?? "nothing")")
    }
}
