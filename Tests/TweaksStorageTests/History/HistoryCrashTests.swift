// Tests that a process that dies at any call on files leaves a history in step with its values.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct HistoryCrashTests {
    private static let numbers = 1...40

    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func start(
        _ files: any FileSystem = PosixFileSystem(), _ time: ManualClock = ManualClock()
    ) throws -> ProgramRun {
        let run = ProgramRun(home.file("state"), files: files, keepsHistory: true, time: time)
        _ = try run.number("X")
        return run
    }

    /// Runs a plan during the second commit, which appends to the history or replaces it because its last line is torn.
    private func fail(_ plan: @escaping FailingFileSystem.Plan, isAppending: Bool) throws -> FailingFileSystem {
        let first = try start()
        try first.set("X", 2, by: 1)
        first.store.close()
        if !isAppending {
            let text = try #require(home.read("state/history.jsonl"))
            try home.write(text + "{", to: "state/history.jsonl")
        }
        let files = FailingFileSystem()
        let second = try start(files)
        files.plan(plan)
        try second.set("X", 3, by: 2)
        second.flush()
        second.store.close()
        return files
    }

    @Test(arguments: numbers, [false, true])
    func aCrashLeavesHistoryAndValuesInStep(number: Int, isAfter: Bool) throws {
        for isAppending in [false, true] {
            _ = try fail(FailingFileSystem.crash(at: number, isAfter: isAfter), isAppending: isAppending)
            let third = try start()
            let value = third.registry["A/B/X"]?.value
            #expect(value == .number(2) || value == .number(3))
            // The history has the commit exactly if its value is there.
            let isCommitted = value == .number(3)
            #expect(third.registry.entries == (isCommitted ? ["2 session 2: X 2→3"] : []) + ["1 session 1: X 1→2"])
            try third.registry.undo()
            #expect(third.registry["A/B/X"]?.value == .number(isCommitted ? 2 : 1))
            third.store.close()
            #expect(third.events.count == 1)
            #expect(!home.names("state").contains { $0.hasSuffix(".tmp") })
            try FileManager.default.removeItem(atPath: home.file("state"))
        }
    }

    // MARK: What the lost commits have changed

    /// Crashes at a call while a commit gets another step, and returns what a restart finds.
    /// - Parameter isAppending: False where the history has to be written as a whole, since the step before failed.
    private func extend(crashingAt number: Int, _ isAfter: Bool, isAppending: Bool) throws -> ProgramRun {
        let files = FailingFileSystem()
        let run = try start(files)
        try run.set("X", 2)
        run.flush()
        if !isAppending {
            // The history is written before the overrides.
            files.plan { $0.kind == .write && $0.numberOfKind == 1 ? .fails(ENOSPC) : nil }
            try run.set("X", 3)
            run.flush()
        }
        files.plan(FailingFileSystem.crash(at: number, isAfter: isAfter))
        try run.set("X", 4)
        run.flush()
        run.store.close()
        return try start()
    }

    @Test(arguments: numbers, [false, true])
    func aCrashDuringAStepLeavesTheCommitAsItWasBefore(number: Int, isAfter: Bool) throws {
        for isAppending in [false, true] {
            let second = try extend(crashingAt: number, isAfter, isAppending: isAppending)
            let value = try #require(second.registry["A/B/X"]?.value?.text)
            let revision = try #require(["2": 1, "3": 2, "4": isAppending ? 2 : 3][value])
            // The history of the failed step was never written.
            let isUnsaved = !isAppending && home.read("state/history.jsonl")?.contains("\"revision\":3") == false
            let expected = isUnsaved ? "1 session 1: X 1→2" : "\(revision) session 1: X 1→\(value)"
            #expect(second.registry.entries == [expected], "\(isAppending)")
            second.store.close()
            #expect(second.events.count == 1)
            try FileManager.default.removeItem(atPath: home.file("state"))
        }
    }

    @Test(arguments: numbers, [false, true])
    func aCrashDuringAChangeKeepsRedo(number: Int, isAfter: Bool) throws {
        let files = FailingFileSystem()
        let first = try start(files)
        try first.set("X", 2, by: 1)
        try first.set("X", 3, by: 2)
        try first.registry.undo()
        first.flush()
        files.plan(FailingFileSystem.crash(at: number, isAfter: isAfter))
        try first.set("X", 5, by: 3)
        first.flush()
        first.store.close()
        let second = try start()
        let isCommitted = second.registry["A/B/X"]?.value == .number(5)
        #expect((try? second.registry.redo()) == nil ? isCommitted : !isCommitted)
        #expect(second.registry["A/B/X"]?.value == .number(isCommitted ? 5 : 3))
        second.store.close()
    }

    // MARK: Any steps

    /// What a program sees of its values and its history.
    private func view(_ run: ProgramRun) -> [String] {
        let values = ["X", "Y"].map { run.registry["A/B/\($0)"]?.value?.text ?? "?" }
        let redo = run.registry.nextHistoryStep(.redo).map { "redo \($0)" } ?? "no redo"
        return values + [redo] + run.registry.entries.prefix(6)
    }

    /// A set, which may continue the last one, an undo, or a redo.
    private func step(
        _ run: ProgramRun, _ time: ManualClock, onlySets: Bool, _ random: inout SeededGenerator
    ) throws {
        time.advance(by: .milliseconds(Int.random(in: 0...700, using: &random)))
        switch onlySets ? 9 : Int.random(in: 0..<10, using: &random) {
        case 0..<3: _ = try? run.registry.undo()
        case 3..<5: _ = try? run.registry.redo()
        default:
            let name = Int.random(in: 0..<3, using: &random) == 0 ? "Y" : "X"
            try run.set(name, Double(Int.random(in: 1...9, using: &random)))
        }
        run.flush()
    }

    /// The file of a bounded history is replaced again and again.
    @Test(.tags(.quantity), arguments: [1, 2, 3] as [UInt64], [false, true])
    func aCrashLeavesWhatWasBeforeTheLastStepOrAfterIt(seed: UInt64, isBounded: Bool) throws {
        var random = SeededGenerator(seed: seed)
        let time = ManualClock()
        func start(_ files: any FileSystem) throws -> ProgramRun {
            let registry = TweakRegistry { [time] in time.now }
            if isBounded { registry.historyLimit = 8 }
            let run = ProgramRun(
                home.file("state"), files: files, keepsHistory: true, time: time, registry: registry)
            for name in ["X", "Y"] { _ = try run.number(name) }
            return run
        }
        for round in 0..<quantity(60, few: 6) {
            let files = FailingFileSystem()
            let run = try start(files)
            for _ in 0..<Int.random(in: 0...(isBounded ? 90 : 8), using: &random) {
                try step(run, time, onlySets: isBounded, &random)
            }
            let before = view(run)
            let crash = (at: Int.random(in: 1...30, using: &random), isAfter: Bool.random(using: &random))
            files.plan(FailingFileSystem.crash(at: crash.at, isAfter: crash.isAfter))
            try step(run, time, onlySets: isBounded, &random)
            let after = view(run)
            run.store.close()
            let again = try start(PosixFileSystem())
            let found = view(again)
            #expect(found == before || found == after, "\(round) \(crash): \(before) \(after)")
            again.store.close()
        }
    }

    @Test(
        arguments: [
            // The flush of the overrides begins before, and the history is on disk before they are in place.
            (true, [.infoOfName, .open, .info, .write, .open, .write, .sync, .sync, .info, .rename, .sync]),
            (false, [.infoOfName, .open, .write, .sync, .info, .rename, .sync]),
        ] as [(Bool, [FailingFileSystem.Kind])])
    func theCrashPointsCoverEveryCall(isAppending: Bool, expected: [FailingFileSystem.Kind]) throws {
        let files = try fail({ _ in nil }, isAppending: isAppending)
        let own = files.log.drop { !$0.name.hasPrefix("history.jsonl") }.map(\.kind)
        #expect(own.starts(with: expected) && files.log.count < Self.numbers.upperBound)
    }
}
