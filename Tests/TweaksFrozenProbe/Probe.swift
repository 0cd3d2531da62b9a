// Says what a frozen program reads, what becomes of its sets, and what it has open; see FrozenTests and .ci/frozen.sh.

import Foundation
import Synchronization
import TweaksDaemon

@main
enum FrozenProbe {
    static func main() async throws {
        say("listed before", TweakRegistry.shared.tweaks(matching: "Listed").count)
        let daemon = try TweakDaemon.start("frozen-probe", tweaks: Probe.number, Probe.text, Probe.figure)
        say("listed", TweakRegistry.shared.tweaks(matching: "Listed").count)
        say("served", daemon.port != nil || daemon.socketPath != nil)
        sayValues()
        let target = Target()
        let binding = Probe.number.bind(to: target, \.number)
        let observation = Probe.number.observe { say("observed", $0.new) }
        say("bound", target.number)
        refuse()
        sayValues()
        facts()
        #if os(Linux)
            // Before the first task: the threads of those are not ours.
            say("threads", try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count)
            say("sockets", try sockets())
        #endif
        await follow()
        observation.cancel()
        binding.cancel()
        let serving = Task { try await daemon.run() }
        serving.cancel()
        try await serving.value
        daemon.stop()
        say("ended", true)
    }

    private static func sayValues() {
        say("values", readsNumber(), readsWhole(), readsFlag(), readsText(), readsChecked(), readsColor(), readsAlign())
        say("values", readsTime(), readsSecret(), readsFigure(), seesFade(), seesListed(), seesElsewhere())
        say("inline", readsInline(), readsInlineWhole(), readsInlineTime(), readsInlineChoice())
        say("handle", seesHandle())
        say("wrapped", readsWrapped(), readsWrappedText(), readsWrappedAlign(), seesWrapped(Look()))
    }

    /// Everything that changes a value, none of which may.
    private static func refuse() {
        assignsNumber()
        say("set", attempt { try Probe.number.set(72) })
        say("set out of range", attempt { try Probe.number.set(500) })
        say("erased set", attempt { try Probe.number.erased.set(.number(72)) })
        say("reset", Probe.number.reset() == nil ? "nil" : "an outcome")
        say(
            "commit",
            attempt {
                try TweakRegistry.shared.commit(origin: .code) { $0.set(Probe.number.path.joined, .number(72)) }
            })
        let group = attempt { try Probe.retry.set(TweakRetryPolicy(attempts: 9)) }
        say("group", Probe.retry.value.attempts, group, Probe.retry.observed.attempts, Probe.number.observed)
        Probe.figure.value = 1
        say("figure set", attempt { try Probe.figure.set(1) })
        Look().alpha = 0.75
        say("frozen", TweakRegistry.shared.isFrozen)
    }

    /// The current value, and with the trait the end.
    private static func follow() async {
        var values = Probe.number.values.makeAsyncIterator()
        say("first of values", await values.next() ?? .nan)
        #if Frozen
            say("second of values", await values.next().map { "\($0)" } ?? "nil")
        #endif
    }

    private static func facts() {
        let range = Probe.number.range
        say("range", range?.lowerBound ?? .nan, range?.upperBound ?? .nan, Probe.number.step ?? .nan)
        say("choices", Probe.listed.choices.map(\.value), Probe.align.choices.map(\.value))
        say("default", Probe.number.path, Probe.number.defaultValue, Probe.number.isModified)
        say("erased", Probe.number.erased, Probe.number.erased.unit ?? "nil", Probe.number.erased.help ?? "nil")
        say("registered", TweakRegistry.shared.count)
    }

    /// How many descriptors are sockets.
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

/// Something to bind to.
private final class Target: Sendable {
    private let value = Mutex(0.0)
    var number: Double {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

private func say(_ topic: String, _ things: Any...) {
    print("\(topic): \(things.map { "\($0)" }.joined(separator: " "))")
}
