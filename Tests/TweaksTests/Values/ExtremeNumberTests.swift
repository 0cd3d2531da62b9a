// Tests that no typed number ends the process: numbers of any exponent and length, for tweaks of every kind.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct ExtremeNumberTests {
    private static let texts: [String] = {
        let exponents = [
            "\(Int.min)", "\(Int.max)", "-9223372036854775809", "18446744073709551616", "-400", "39", "-39",
        ]
        let mantissas = ["1.5", "0.0", "-1.5", "9007199254740993", "1." + String(repeating: "0", count: 300) + "1"]
        let numbers = mantissas.flatMap { mantissa in exponents.map { "\(mantissa)e\($0)" } }
        let wholes = ["\(Int128.max)", "\(Int128.min)", "\(UInt64.max)", "-0x8000000000000000"]
        return numbers + wholes + numbers.prefix(7).flatMap { ["\($0)+1", "1/\($0)", "(\($0))*\($0)"] }
    }()

    private static func tweaks(_ registry: TweakRegistry) -> [TweakNode] {
        [
            Tweak("A", "Free", "number", 0.0, unit: "px", registry: registry).node,
            Tweak("A", "Free", "int", 0, registry: registry).node,
            Tweak("A", "Free", "time", Duration.zero, registry: registry).node,
            Tweak("A", "Free", "color", TweakColor.black, registry: registry).node,
            Tweak("A", "Free", "point", TweakPoint(x: 0, y: 0), registry: registry).node,
            Tweak("A", "Free", "list", [1.0], registry: registry).node,
            Tweak("A", "Free", "whole list", [1], registry: registry).node,
            Tweak<Double?>("A", "Free", "maybe", nil, registry: registry).node,
            Tweak(
                "A", "Bound", "number", 0.0, in: -1e308...1e308, step: 1e-9, scale: .logarithmic, policy: .snap,
                registry: registry
            ).node,
            Tweak("A", "Bound", "int", 0, in: Int.min...Int.max, step: 7, policy: .snap, registry: registry).node,
            Tweak("A", "Bound", "unsigned", UInt64.max, registry: registry).node,
            Tweak(
                "A", "Bound", "time", .zero, in: .nanoseconds(Int64.min) ... .nanoseconds(Int64.max),
                step: .nanoseconds(7), policy: .snap, registry: registry
            ).node,
            Tweak(
                "A", "Bound", "point", TweakPoint(x: 0, y: 0), in: .init(x: 0..., y: (-1e308)...1e308), step: 1e-300,
                policy: .snap, registry: registry
            ).node,
        ]
    }

    /// As a value, a component, an angle, and in JSON; set and added.
    @Test(arguments: texts) func isReadOrRefused(_ number: String) {
        let forms = [
            number, "\(number)px", "\(number),\(number)", "[\(number), 1]", "hsl(\(number)turn,50%,50%)",
            "rgb(\(number) 0 0 / \(number)%)", "\(number)h",
        ]
        let registry = TweakRegistry()
        for node in Self.tweaks(registry) {
            for text in forms {
                if let value = try? node.read(text, from: .typed) { apply(value, node, registry, node.decimal(text)) }
                _ = try? node.read(text, from: .file)
            }
            for json in [number, "\"\(number)\"", "[\(number),\(number)]"].compactMap({ JSON($0) }) {
                if let value = try? node.read(json) { apply(value, node, registry, nil) }
            }
        }
    }

    private func apply(_ value: TweakValue, _ node: TweakNode, _ registry: TweakRegistry, _ exact: ExactDecimal?) {
        for change in [TweakBatch.Change.set(value), .add(value, exactly: exact), .subtract(value)] {
            var batch = TweakBatch()
            batch.append(node, change)
            _ = try? registry.forecast(batch)
        }
        for policy in [TweakPolicy.reject, .clamp, .snap] {
            _ = try? node.definition.validate(value, for: node.path, policy: policy)
        }
    }

    @Test(arguments: texts) func isReadOrRefusedAsAnArgument(_ number: String) async {
        let registry = TweakRegistry()
        let action = tweakAction(
            "A", "B", "Act",
            arguments: [
                .init("number", .number), .init("int", .int, default: 1), .init("time", .duration, default: .zero),
            ],
            registry: registry
        ) { _ in "done" }
        _ = try? await action.run([number])
        _ = try? await action.run(["1", number])
        _ = try? await action.run(["1", "1", number])
    }
}
