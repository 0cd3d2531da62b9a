// Tests groups under concurrent commits: a value never mixes two revisions.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

/// Three parts that are always set to the same number.
private struct Triple: TweakTemplate {
    var a = 0
    var b = 0
    var c = 0
    var isWhole: Bool { a == b && b == c }
    init(_ number: Int = 0) { (a, b, c) = (number, number, number) }
    static let parts: [TweakPart<Triple>] = [TweakPart("a", \.a), TweakPart("b", \.b), TweakPart("c", \.c)]
}

/// Counts how often threads have seen what must not be.
private final class Failures: Sendable {
    private let number = Atomic(0)

    var count: Int { number.load(ordering: .relaxed) }

    func note(if isFailure: Bool) { if isFailure { number.add(1, ordering: .relaxed) } }
}

struct GroupThreadTests {
    private let registry = TweakRegistry()
    private let triple: TweakGroup<Triple>
    private let failures = Failures()

    init() { triple = TweakGroup("A", "B", Triple(), registry: registry) }

    @Test func readsAreWholeAndNeverGoBack() throws {
        let last = quantity(3_000, few: 1_000)
        let isDone = Atomic(false)
        onThreads(4) { [triple, failures] index in
            if index == 0 {
                for number in 1...last { _ = try? triple.set(Triple(number)) }
                isDone.store(true, ordering: .releasing)
                return
            }
            var last = 0
            while !isDone.load(ordering: .acquiring) {
                let value = triple.value
                failures.note(if: !value.isWhole || value.a < last)
                last = value.a
            }
        }
        #expect(failures.count == 0 && triple.value == Triple(last))
    }

    @Test func aThreadReadsTheValueThatItHasSet() {
        onThreads(4) { [registry, triple, failures] index in
            let own = TweakGroup("A", "\(index)", Triple(), registry: registry)
            for number in 1...quantity(1_000, few: 300) {
                own.value = Triple(number)
                failures.note(if: own.value != Triple(number))
                triple.value = Triple(number)
                failures.note(if: !triple.value.isWhole)
            }
        }
        #expect(failures.count == 0)
    }

    @Test func observersReceiveWholeValuesInOrderAndTheLastOne() {
        let seen = Recorder<TweakChange<Triple>>()
        let token = triple.observe { seen.note($0) }
        onThreads(4) { [triple] index in
            for number in 1...500 { triple.value = Triple(index * 1_000 + number) }
        }
        let changes = seen.all
        #expect(changes.allSatisfy { $0.new.isWhole && $0.old.isWhole && $0.old != $0.new })
        for (one, next) in zip(changes, changes.dropFirst()) {
            #expect(one.new == next.old && one.revision < next.revision)
        }
        #expect(changes.last?.new == triple.value && changes.last?.revision == registry.revision)
        token.cancel()
    }

    @Test func anObserverRunsOnceForEachCommit() {
        let calls = Recorder<Int>()
        let token = triple.observe { calls.note($0.new.a) }
        for number in 1...1_000 { triple.value = Triple(number) }
        #expect(calls.all == Array(1...1_000))
        token.cancel()
    }

    @Test func anObserverAddedDuringChangesReceivesWholeAndNewerValues() {
        onThreads(3) { [triple, failures] index in
            for number in 1...300 {
                if index == 0 {
                    triple.value = Triple(number)
                } else {
                    triple.observe { failures.note(if: !$0.old.isWhole || $0.old.a >= $0.new.a) }.cancel()
                }
            }
        }
        #expect(failures.count == 0)
    }
}
