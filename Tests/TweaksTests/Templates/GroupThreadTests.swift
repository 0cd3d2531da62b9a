// Groups under concurrent commits: a value is never made of two moments.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

/// Parts that are always set to one and the same number.
private struct Triple: TweakTemplate {
    var a = 0
    var b = 0
    var c = 0
    var isWhole: Bool { a == b && b == c }
    init(_ number: Int = 0) { (a, b, c) = (number, number, number) }
    static let parts: [TweakPart<Triple>] = [
        TweakPart("a", \.a), TweakPart("b", \.b), TweakPart("c", \.c),
    ]
}

struct GroupThreadTests {
    private let registry = TweakRegistry()

    @Test func readsAreWholeAndNeverGoBack() throws {
        let triple = TweakGroup("A", "B", Triple(), registry: registry)
        let last = quantity(3_000, few: 1_000)
        let isDone = Atomic(false)
        let torn = Atomic(0)
        onThreads(4) { index in
            if index == 0 {
                for number in 1...last { _ = try? triple.set(Triple(number)) }
                isDone.store(true, ordering: .releasing)
                return
            }
            var last = 0
            while !isDone.load(ordering: .acquiring) {
                let value = triple.value
                if !value.isWhole || value.a < last { torn.add(1, ordering: .relaxed) }
                last = value.a
            }
        }
        #expect(torn.load(ordering: .relaxed) == 0)
        #expect(triple.value == Triple(last))
    }

    @Test func whoeverSetsReadsWhatWasSet() {
        let triple = TweakGroup("A", "B", Triple(), registry: registry)
        let stale = Atomic(0)
        onThreads(4) { index in
            let mine = TweakGroup("A", "\(index)", Triple(), registry: registry)
            for number in 1...quantity(1_000, few: 300) {
                mine.value = Triple(number)
                if mine.value != Triple(number) { stale.add(1, ordering: .relaxed) }
                triple.value = Triple(number)
                if !triple.value.isWhole { stale.add(1, ordering: .relaxed) }
            }
        }
        #expect(stale.load(ordering: .relaxed) == 0)
    }

    @Test func observersSeeWholeValuesInOrderAndTheLast() {
        let triple = TweakGroup("A", "B", Triple(), registry: registry)
        let seen = Recorder<TweakChange<Triple>>()
        let token = triple.observe { seen.note($0) }
        onThreads(4) { index in
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

    @Test func commitsOfOneRevisionAreSeenOnce() {
        let triple = TweakGroup("A", "B", Triple(), registry: registry)
        let count = Atomic(0)
        let token = triple.observe { _ in count.add(1, ordering: .relaxed) }
        for number in 1...1_000 { triple.value = Triple(number) }
        #expect(count.load(ordering: .relaxed) == 1_000)
        token.cancel()
    }

    @Test func startingToObserveWhileItChanges() {
        let triple = TweakGroup("A", "B", Triple(), registry: registry)
        let wrong = Atomic(0)
        onThreads(3) { index in
            for number in 1...300 {
                if index == 0 {
                    triple.value = Triple(number)
                } else {
                    let token = triple.observe { change in
                        if !change.old.isWhole || change.old.a >= change.new.a { wrong.add(1, ordering: .relaxed) }
                    }
                    token.cancel()
                }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}
