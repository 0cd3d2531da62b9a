// Actions: run once for each call, one at a time unless they say otherwise, waited for only so long.

import Synchronization
import Testing

@testable import Tweaks

private struct Jam: Error, CustomStringConvertible {
    var description: String { "paper jam" }
}

struct ActionTests {
    private let registry = TweakRegistry()

    /// The code and text that a run is refused with.
    private func refusal(of action: TweakAction, _ arguments: [String] = []) async -> TweakError? {
        do {
            _ = try await action.run(arguments)
            return nil
        } catch {
            return error
        }
    }

    // MARK: What goes in and comes out

    @Test func argumentsGoInAndTextComesOut() async throws {
        let action = tweakAction("A", "B", "Echo", registry: registry) { arguments in
            "\(arguments.count): " + arguments.map { "<\($0)>" }.joined()
        }
        #expect(try await action.run() == "0: ")
        #expect(try await action.run(["a", "", "b c\n"]) == "3: <a><><b c\n>")
        #expect(try await registry["A/B/Echo"]?.run(["x"]) == "1: <x>")
    }

    @Test func aRemovedActionIsNotRun() async {
        let runs = Recorder<Int>()
        let action = tweakAction("A", "B", "Act", registry: registry) { _ in
            runs.note(1)
            return ""
        }
        let erased = action.registry["A/B/Act"]
        registry.remove(action.path)
        #expect(await refusal(of: action)?.code == .unknownTweak)
        await #expect(throws: TweakError.self) { try await erased?.run() }
        #expect(runs.all.isEmpty)
    }

    @Test func anActionMayWait() async throws {
        let gate = Gate()
        let action = tweakAction("A", "B", "Wait", registry: registry) { _ in
            await gate.wait()
            return "waited"
        }
        async let text = action.run()
        gate.open()
        #expect(try await text == "waited")
    }

    @Test func whatItThrowsIsShown() async {
        let action = tweakAction("A", "B", "Print", registry: registry) { _ in throw Jam() }
        let error = await refusal(of: action)
        #expect(error?.code == .actionFailed && error?.message == "A/B/Print: paper jam" && error?.path == action.path)
    }

    @Test func itsOwnTweakErrorsArePassedOn() async {
        let action = tweakAction("A", "B", "Load", registry: registry) { _ in
            throw TweakError(.usage, "run A/B/Load FILE")
        }
        #expect(await refusal(of: action) == TweakError(.usage, "run A/B/Load FILE"))
    }

    @Test func anActionMaySetTweaksAndRunOthers() async throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let inner = tweakAction("A", "B", "Inner", registry: registry) { _ in
            tweak.value = 2
            return "inner"
        }
        let outer = tweakAction("A", "B", "Outer", registry: registry) { _ in
            try await inner.run() + " and outer"
        }
        #expect(try await outer.run() == "inner and outer")
        #expect(tweak.value == 2)
    }

    @MainActor @Test func itRunsOnTheActorOfItsClosure() async throws {
        // Were it run elsewhere, this would not compile without `await`.
        var count = 0
        let action = tweakAction("A", "B", "Count", registry: registry) { _ in
            count += 1
            MainActor.assertIsolated()
            return "\(count)"
        }
        #expect(try await action.run() == "1")
        let text = try await Task.detached { try await action.run() }.value
        #expect(text == "2" && count == 2)
    }

    // MARK: How often

    @Test func eachCallRunsItExactlyOnce() async {
        let runs = Box(0)
        let alone = tweakAction("A", "B", "Alone", registry: registry) { _ in
            runs.value += 1
            return ""
        }
        for _ in 0..<100 { #expect(await refusal(of: alone) == nil) }
        #expect(runs.value == 100)
    }

    @Test func callsAtOnceAreRunOrRefusedButNeverBoth() async {
        let runs = Atomic(0)
        let action = tweakAction("A", "B", "Alone", registry: registry) { _ in
            runs.add(1, ordering: .relaxed)
            await Task.yield()
            return ""
        }
        let answers = await withTaskGroup { group in
            for _ in 0..<200 { group.addTask { await refusal(of: action)?.code } }
            return await group.reduce(into: [TweakError.Code?]()) { $0.append($1) }
        }
        #expect(answers.count { $0 == nil } == runs.load(ordering: .relaxed))
        #expect(answers.allSatisfy { $0 == nil || $0 == .busy } && answers.contains(nil))
    }

    @Test func aSecondCallIsBusyUntilTheFirstHasEnded() async throws {
        let (started, gate) = (Gate(), Gate())
        let action = tweakAction("A", "B", "Slow", registry: registry) { _ in
            started.open()
            await gate.wait()
            return "done"
        }
        let first = Task { try await action.run() }
        await started.wait()
        let error = await refusal(of: action)
        #expect(error?.code == .busy && error?.path == action.path)
        gate.open()
        #expect(try await first.value == "done")
        #expect(try await action.run() == "done")
    }

    @Test func afterAnErrorItIsNotBusy() async {
        let action = tweakAction("A", "B", "Print", registry: registry) { _ in throw Jam() }
        for _ in 0..<3 { #expect(await refusal(of: action)?.code == .actionFailed) }
    }

    @Test func concurrentlyItMayOverlap() async throws {
        let gates = (Gate(), Gate())
        let action = tweakAction("A", "B", "Both", concurrently: true, registry: registry) { arguments in
            // Each waits for the other to have begun.
            (arguments.first == "1" ? gates.0 : gates.1).open()
            await (arguments.first == "1" ? gates.1 : gates.0).wait()
            return arguments.first ?? ""
        }
        async let one = action.run(["1"])
        async let two = action.run(["2"])
        #expect(try await [one, two] == ["1", "2"])
    }

    // MARK: Time limit

    @Test func pastItsLimitTheCallerIsAnsweredAndItIsBusyUntilItReallyEnds() async {
        let (gate, cancelled, runs) = (Gate(), Gate(), Box(0))
        let action = tweakAction("A", "B", "Stuck", timeLimit: .zero, registry: registry) { _ in
            runs.value += 1
            await withTaskCancellationHandler {
                await gate.wait()
            } onCancel: {
                cancelled.open()
            }
            return "late"
        }
        let error = await refusal(of: action)
        #expect(error?.code == .timeout && error?.path == action.path)
        await cancelled.wait()
        for _ in 0..<10 { #expect(await refusal(of: action)?.code == .busy) }
        #expect(runs.value == 1)
        gate.open()
        // It ends when it ends; from then on it can be run again.
        while await refusal(of: action)?.code == .busy { await Task.yield() }
        #expect(runs.value == 2)
    }

    @Test func withinItsLimitNothingIsCancelled() async throws {
        let action = tweakAction("A", "B", "Quick", timeLimit: .seconds(3_600), registry: registry) { _ in
            "\(Task.isCancelled)"
        }
        #expect(try await action.run() == "false")
    }

    // MARK: As an entry of the registry

    @Test func anActionHasNoValue() async throws {
        tweakAction("A", "B", "Run", help: "Runs.", registry: registry) { _ in "" }
        let action = try #require(registry["A/B/Run"])
        #expect(action.kind == .action && action.value == nil && action.defaultValue == nil && !action.isModified)
        #expect("\(action)" == "A/B/Run = (action)" && action.help == "Runs.")
        #expect(registry.snapshot()["A/B/Run"] == nil)
        for body: () throws -> Void in [
            { try action.set(.bool(true)) }, { try action.set(text: "1") }, { try action.reset() },
        ] {
            #expect(TweaksTests.refusal(body)?.code == .badValue)
        }
    }

    @Test func aValueCannotBeRun() async {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let error = await #expect(throws: TweakError.self) { try await tweak.erased.run() }
        #expect(error?.code == .notAnAction && error?.path == tweak.path)
    }

    @Test func aRemovedActionCanBeDeclaredAnew() async throws {
        let first = tweakAction("A", "B", "Run", registry: registry) { _ in "first" }
        registry.remove(first.path)
        let second = tweakAction("A", "B", "Run", registry: registry) { _ in "second" }
        #expect(try await second.run() == "second")
        #expect(try await registry["A/B/Run"]?.run() == "second" && registry.conflicts.isEmpty)
    }
}
