// Tests actions: each call runs once, one at a time unless declared otherwise, within a time limit.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

/// The error of a run; nil when it succeeds.
func refusal(of action: TweakAction, _ arguments: [String] = []) async -> TweakError? {
    do {
        _ = try await action.run(arguments)
        return nil
    } catch {
        return error
    }
}

private struct PaperJam: Error, CustomStringConvertible {
    var description: String { "paper jam" }
}

struct ActionTests {
    private let registry = TweakRegistry()
    /// For bodies that wait for others, which may take longer than the default on a busy machine.
    private let long = Duration.seconds(3_600)

    // MARK: Arguments and results

    @Test func theBodyReceivesTheArgumentsAndReturnsAText() async throws {
        let action = tweakAction("A", "B", "Echo", registry: registry) { arguments in
            "\(arguments.count): " + arguments.map { "<\($0)>" }.joined()
        }
        #expect(try await action.run() == "0: ")
        #expect(try await action.run(["a", "", "b c\n"]) == "3: <a><><b c\n>")
        #expect(try await registry["A/B/Echo"]?.run(["x"]) == "1: <x>")
    }

    @Test func aRemovedActionIsNotRunAndCanBeDeclaredAgain() async throws {
        let runs = Recorder<Int>()
        let first = tweakAction("A", "B", "Run", registry: registry) { _ in
            runs.note(1)
            return "first"
        }
        let erased = registry["A/B/Run"]
        registry.remove(first.path)
        #expect(await refusal(of: first)?.code == .unknownTweak)
        await #expect(throws: TweakError.self) { try await erased?.run() }
        let second = tweakAction("A", "B", "Run", registry: registry) { _ in "second" }
        #expect(try await second.run() == "second")
        #expect(try await registry["A/B/Run"]?.run() == "second" && registry.conflicts.isEmpty)
        #expect(runs.all.isEmpty)
    }

    @Test func aThrownErrorIsReportedAndTheActionIsNotBusyAfterwards() async {
        let action = tweakAction("A", "B", "Print", registry: registry) { _ in throw PaperJam() }
        let error = TweakError(.actionFailed, "A/B/Print: paper jam", path: action.path)
        for _ in 0..<3 { #expect(await refusal(of: action) == error) }
    }

    @Test func aThrownTweakErrorIsReportedUnchanged() async {
        let error = TweakError(.usage, "run A/B/Load FILE")
        let action = tweakAction("A", "B", "Load", registry: registry) { _ in throw error }
        #expect(await refusal(of: action) == error)
    }

    @Test func anActionMaySetTweaksAndRunOthers() async throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let inner = tweakAction("A", "B", "Inner", timeLimit: long, registry: registry) { _ in
            tweak.value = 2
            return "inner"
        }
        let outer = tweakAction("A", "B", "Outer", timeLimit: long, registry: registry) { _ in
            try await inner.run() + " and outer"
        }
        #expect(try await outer.run() == "inner and outer")
        #expect(tweak.value == 2)
    }

    @MainActor @Test func theBodyRunsOnTheActorOfItsClosure() async throws {
        // Without that isolation, this does not compile.
        var count = 0
        let action = tweakAction("A", "B", "Count", timeLimit: long, registry: registry) { _ in
            count += 1
            MainActor.assertIsolated()
            return "\(count)"
        }
        #expect(try await action.run() == "1")
        let text = try await Task.detached { try await action.run() }.value
        #expect(text == "2" && count == 2)
    }

    // MARK: Concurrent calls

    @Test func eachOfManyCallsRunsOnceOrIsRefused() async {
        let runs = Atomic(0)
        let action = tweakAction("A", "B", "Alone", timeLimit: long, registry: registry) { _ in
            runs.add(1, ordering: .relaxed)
            await Task.yield()
            return ""
        }
        let codes = await withTaskGroup { group in
            for _ in 0..<200 { group.addTask { await refusal(of: action)?.code } }
            return await group.reduce(into: [TweakError.Code?]()) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == runs.load(ordering: .relaxed))
        #expect(codes.allSatisfy { $0 == nil || $0 == .busy } && codes.contains(nil))
        // One after another, none is refused.
        let before = runs.load(ordering: .relaxed)
        for _ in 0..<100 { #expect(await refusal(of: action) == nil) }
        #expect(runs.load(ordering: .relaxed) == before + 100)
    }

    @Test func aSecondCallIsBusyUntilTheFirstHasEnded() async throws {
        let (started, gate) = (Gate(), Gate())
        let action = tweakAction("A", "B", "Slow", timeLimit: long, registry: registry) { _ in
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

    @Test func callsOfAConcurrentActionOverlap() async throws {
        let gates = (Gate(), Gate())
        let action = tweakAction(
            "A", "B", "Both", timeLimit: long, concurrently: true, registry: registry
        ) { arguments in
            // Each call waits for the other one to begin.
            (arguments.first == "1" ? gates.0 : gates.1).open()
            await (arguments.first == "1" ? gates.1 : gates.0).wait()
            return arguments.first ?? ""
        }
        async let one = action.run(["1"])
        async let two = action.run(["2"])
        #expect(try await [one, two] == ["1", "2"])
    }

    // MARK: Time limit

    @Test func atItsTimeLimitACallIsAnsweredAndTheActionIsBusyUntilItEnds() async {
        let (gate, canceled, runs) = (Gate(), Gate(), Box(0))
        let action = tweakAction("A", "B", "Stuck", timeLimit: .zero, registry: registry) { _ in
            runs.value += 1
            await withTaskCancellationHandler {
                await gate.wait()
            } onCancel: {
                canceled.open()
            }
            return "late"
        }
        let error = await refusal(of: action)
        #expect(error?.code == .timeout && error?.path == action.path)
        await canceled.wait()
        for _ in 0..<10 { #expect(await refusal(of: action)?.code == .busy) }
        #expect(runs.value == 1)
        gate.open()
        // Once it has ended, it can run again.
        while await refusal(of: action)?.code == .busy { await Task.yield() }
        // The limit may end the call before its body has begun.
        while runs.value < 2 { await Task.yield() }
        #expect(runs.value == 2)
    }

    @Test func withinItsTimeLimitACallIsNotCanceled() async throws {
        let action = tweakAction("A", "B", "Quick", timeLimit: .seconds(3_600), registry: registry) { _ in
            "\(Task.isCancelled)"
        }
        #expect(try await action.run() == "false")
    }

    // MARK: The registry

    @Test func anActionHasNoValue() throws {
        tweakAction("A", "B", "Run", help: "Runs.", registry: registry) { _ in "" }
        let action = try #require(registry["A/B/Run"])
        #expect(action.kind == .action && action.value == nil && action.defaultValue == nil && !action.isModified)
        #expect("\(action)" == "A/B/Run = (action)" && action.help == "Runs.")
        #expect(registry.snapshot()["A/B/Run"] == nil)
        for body: () throws -> Void in [
            { try action.set(.bool(true)) }, { try action.set(text: "1") }, { try action.reset() },
        ] { #expect(refusal(body)?.code == .badValue) }
    }

    @Test func aValueCannotBeRun() async {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let error = await #expect(throws: TweakError.self) { try await tweak.erased.run() }
        #expect(error?.code == .notAnAction && error?.path == tweak.path)
    }
}
