// Prints what a frozen program reads, sets and has open; FrozenTests and .ci/frozen.sh check it.

import Foundation
import Synchronization
import TweaksDaemon

@main
enum FrozenProbe {
    static func main() async throws {
        report("listed before", TweakRegistry.shared.tweaks(matching: "Listed").count)
        let daemon = try TweakDaemon.start("frozen-probe", tweaks: Probe.number, Probe.text, Probe.figure)
        report("listed", TweakRegistry.shared.tweaks(matching: "Listed").count)
        report("served", daemon.port != nil || daemon.socketPath != nil)
        printValues()
        let target = Target()
        let binding = Probe.number.bind(to: target, \.number)
        let observation = Probe.number.observe { report("observed", $0.new) }
        report("bound", target.number)
        attemptChanges()
        printValues()
        printInfo()
        #if os(Linux)
            // Before the first task, which starts threads.
            report("threads", try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count)
            report("sockets", try sockets())
        #endif
        await follow()
        observation.cancel()
        binding.cancel()
        let serving = Task { try await daemon.run() }
        serving.cancel()
        try await serving.value
        daemon.stop()
        report("ended", true)
    }

    private static func printValues() {
        let (text, checked) = (readsText(), readsChecked())
        report("values", readsNumber(), readsWhole(), readsFlag(), text, checked, readsColor(), readsAlign())
        report("values", readsTime(), readsSecret(), readsFigure(), seesFade(), seesListed(), seesElsewhere())
        report("inline", readsInline(), readsInlineWhole(), readsInlineTime(), readsInlineChoice())
        report("handle", seesHandle())
        report("wrapped", readsWrapped(), readsWrappedText(), readsWrappedAlign(), seesWrapped(Look()))
    }

    /// Attempts every operation that changes a value.
    private static func attemptChanges() {
        assignsNumber()
        report("set", attempt { try Probe.number.set(72) })
        report("set out of range", attempt { try Probe.number.set(500) })
        report("erased set", attempt { try Probe.number.erased.set(.number(72)) })
        report("reset", Probe.number.reset() == nil ? "nil" : "an outcome")
        report(
            "commit",
            attempt {
                try TweakRegistry.shared.commit(origin: .code) { $0.set(Probe.number.path.joined, .number(72)) }
            })
        let group = attempt { try Probe.retry.set(TweakRetryPolicy(attempts: 9)) }
        report("group", Probe.retry.value.attempts, group, Probe.retry.observed.attempts, Probe.number.observed)
        Probe.figure.value = 1
        report("figure set", attempt { try Probe.figure.set(1) })
        Look().alpha = 0.75
        report("frozen", TweakRegistry.shared.isFrozen)
    }

    /// Prints the current value, and with the trait that the sequence ends.
    private static func follow() async {
        var values = Probe.number.values.makeAsyncIterator()
        report("first of values", await values.next() ?? .nan)
        #if Frozen
            report("second of values", await values.next().map { "\($0)" } ?? "nil")
        #endif
    }

    private static func printInfo() {
        let range = Probe.number.range
        report("range", range?.lowerBound ?? .nan, range?.upperBound ?? .nan, Probe.number.step ?? .nan)
        report("choices", Probe.listed.choices.map(\.value), Probe.align.choices.map(\.value))
        report("default", Probe.number.path, Probe.number.defaultValue, Probe.number.isModified)
        report("erased", Probe.number.erased, Probe.number.erased.unit ?? "nil", Probe.number.erased.help ?? "nil")
        report("registered", TweakRegistry.shared.count)
    }

    /// The number of descriptors that are sockets.
    private static func sockets() throws -> Int {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return descriptors.count { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target?.hasPrefix("socket:") ?? false
        }
    }

    private static func attempt<Result>(_ body: () throws -> Result) -> String {
        do {
            _ = try body()
            return "ok"
        } catch {
            return (error as? TweakError)?.code.rawValue ?? "\(error)"
        }
    }
}

/// The target of a binding.
private final class Target: Sendable {
    private let value = Mutex(0.0)
    var number: Double {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

private func report(_ topic: String, _ values: Any...) {
    print("\(topic): \(values.map { "\($0)" }.joined(separator: " "))")
}
