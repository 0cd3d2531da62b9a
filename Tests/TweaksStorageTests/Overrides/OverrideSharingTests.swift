// Writes that are shared, writes that come first, and the end in the midst of one.

import Dispatch
import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite("Overrides on disk: shared writes and proposals", .blocking)
struct OverrideSharingTests {
    private let home: TemporaryDirectory
    private let files = FailingFileSystem()
    private let reached = Gate()
    private let goOn = Gate()

    init() throws { home = try TemporaryDirectory() }

    /// The next file to be flushed waits for the gate.
    private func holdNextWrite() {
        files.plan { [reached, goOn] call in
            call.kind == .sync && call.numberOfKind == 1 ? .waits(reached: reached, goOn: goOn) : nil
        }
    }

    @Test("changes that come during a write share the next one")
    func groups() throws {
        let life = StoredLife(home.file("state"), files: files)
        let size = try life.number("Size")
        size.value = 2
        life.tried()
        holdNextWrite()
        defer { goOn.open() }
        size.value = 3
        reached.waitBlocking()
        let answers = Mutex<[String?]>([])
        for number in 1...50 {
            try life.number("N\(number)").value = 2
            life.store.whenTried(life.registry.revision) { answer in answers.withLock { $0.append(answer) } }
        }
        goOn.open()
        #expect(life.tried() == nil)
        #expect(life.store.facts.writes == 3)
        life.store.close()
        #expect(answers.withLock { $0 } == Array(repeating: nil, count: 50))
    }

    @Test("an answer comes only when the disk has it")
    func answers() throws {
        let life = StoredLife(home.file("state"), files: files)
        let size = try life.number("Size")
        holdNextWrite()
        defer { goOn.open() }
        size.value = 2
        reached.waitBlocking()
        #expect(life.store.status.answer(for: 1) == .pending)
        goOn.open()
        #expect(life.tried() == nil)
        #expect(life.store.status == SaveStatus(saved: 1, tried: 1))
    }

    @Test("an observation ends when it is let go of")
    func observing() throws {
        let life = StoredLife(home.file("state"))
        let seen = Mutex<[UInt64]>([])
        var observation: StoreObservation? = life.store.observe { status in seen.withLock { $0.append(status.saved) } }
        try life.number("Size").value = 2
        life.tried()
        #expect(try life.propose([:]) == nil)
        let before = seen.withLock { $0 }
        #expect(before.last == 1)
        withExtendedLifetime(observation) {}
        observation = nil
        try life.number("Size").value = 3
        life.tried()
        #expect(try life.propose([:]) == nil)
        #expect(seen.withLock { $0 } == before)
    }

    // MARK: Proposals

    @Test("a proposal is on disk before it is in force, and stays there when it is")
    func proposes() throws {
        let life = StoredLife(home.file("state"), isRequired: true)
        #expect(life.store.isRequired)
        let size = try life.number("Size")
        #expect(try life.propose(["Size": 2]) == nil)
        #expect(size.value == 1)
        #expect(life.text?.contains(#""value": 2"#) == true)
        // Others may write meanwhile; it stays.
        try life.number("Other").value = 5
        life.tried()
        #expect(life.text?.contains(#""value": 2"#) == true)
        size.value = 2
        life.tried()
        #expect(life.text?.contains(#""value": 2"#) == true)
        #expect(try life.propose(["Size": nil]) == nil)
        #expect(life.text?.contains("A/B/Size") == false)
        size.reset()
        life.tried()
        #expect(life.text?.contains("A/B/Size") == false)
    }

    @Test("a proposal that is withdrawn gives way to what is in force")
    func withdraws() throws {
        let life = StoredLife(home.file("state"))
        try life.number("Size").value = 7
        _ = try life.number("Fresh")
        #expect(
            try life.propose(["Size": 2, "Fresh": 2]) == nil)
        life.store.withdraw(try life.changes(["Size": 2, "Fresh": 2]))
        #expect(try life.propose([:]) == nil)
        #expect(life.text?.contains(#""value": 7"#) == true)
        #expect(life.text?.contains("Fresh") == false)
    }

    @Test("of two proposals for one tweak, the first may be put in force or withdrawn without harm to the second")
    func two() throws {
        let life = StoredLife(home.file("state"))
        let size = try life.number("Size")
        for isWithdrawn in [false, true] {
            #expect(try life.propose(["Size": 2]) == nil)
            #expect(try life.propose(["Size": 3]) == nil)
            if isWithdrawn { life.store.withdraw(try life.changes(["Size": 2])) } else { size.value = 2 }
            #expect(try life.propose([:]) == nil)
            #expect(life.text?.contains(#""value": 3"#) == true)
            size.value = 3
            size.value = 4
            #expect(life.tried() == nil)
            #expect(life.text?.contains(#""value": 4"#) == true)
            size.reset()
        }
    }

    @Test("a proposal that the disk refuses is gone, and everybody who shared the write is told")
    func refused() throws {
        let life = StoredLife(home.file("state"), files: files, time: ManualTime())
        try life.number("Size").value = 7
        life.tried()
        holdNextWrite()
        defer { goOn.open() }
        try life.number("Size").value = 8
        reached.waitBlocking()
        let answers = Mutex<[String?]>([])
        let done = DispatchSemaphore(value: 0)
        for number in 0..<3 {
            let path = try TweakPath("A", "B", "Size")
            life.store.propose([OverrideKey(path): try life.entry("Size", Double(number))]) { answer in
                answers.withLock { $0.append(answer) }
                done.signal()
            }
        }
        files.plan { $0.kind == .write ? .fails(28) : nil }
        goOn.open()
        for _ in 0..<3 { done.wait() }
        let refusal = "No space left on device (writing overrides.json)"
        #expect(answers.withLock { $0 } == [refusal, refusal, refusal])
        #expect(life.store.facts.failures == 1)
        #expect(life.text?.contains(#""value": 8"#) == true)
        files.plan(nil)
        life.store.close()
        #expect(life.text?.contains(#""value": 8"#) == true)
    }

    // MARK: The end

    @Test("closing waits for the write that is under way, and for the changes that came meanwhile")
    func closes() throws {
        let life = StoredLife(home.file("state"), files: files)
        let size = try life.number("Size")
        size.value = 2
        life.tried()
        holdNextWrite()
        defer { goOn.open() }
        size.value = 3
        reached.waitBlocking()
        size.value = 4
        let isClosed = Gate()
        Thread.detachNewThread {
            life.store.close()
            isClosed.open()
        }
        goOn.open()
        isClosed.waitBlocking()
        #expect(life.text?.contains(#""value": 4"#) == true)
        #expect(life.registry.store == nil)
    }

    @Test("closing tries once where the disk refuses, and leaves nobody waiting")
    func closesInVain() throws {
        let life = StoredLife(home.file("state"), files: files, time: ManualTime())
        files.plan { $0.kind == .sync ? .fails(28) : nil }
        try life.number("Size").value = 2
        life.tried()
        try life.number("Size").value = 3
        let answers = Mutex<[String?]>([])
        life.store.whenTried(2) { answer in answers.withLock { $0.append(answer) } }
        life.store.whenTried(99) { answer in answers.withLock { $0.append(answer) } }
        life.store.propose([:]) { answer in answers.withLock { $0.append(answer) } }
        life.store.close()
        let refusal = "No space left on device (flushing overrides.json)"
        #expect(answers.withLock { $0 } == [refusal, refusal, refusal])
    }

    @Test("a storage may be closed by whoever is told of something")
    func closesItself() throws {
        let life = StoredLife(home.file("state"))
        let isClosed = Gate()
        let observation = life.store.observe { _ in
            life.store.close()
            isClosed.open()
        }
        try life.number("Size").value = 2
        isClosed.waitBlocking()
        life.store.close()
        withExtendedLifetime(observation) {}
        #expect(life.text?.contains("A/B/Size") == true)
    }

    @Test("a storage that is let go of with its registry writes what is left, and ends")
    func letGo() throws {
        let hasEnded = DispatchSemaphore(value: 0)
        var observation: StoreObservation?
        do {
            let registry = TweakRegistry()
            let store = OverrideStore(directory: home.file("state"), program: "test") { _ in }
            store.open(registry)
            observation = store.observe { if $0.tried == .max { hasEnded.signal() } }
            try registry.register("A", "B", "Size", 1).value = 2
        }
        hasEnded.wait()
        withExtendedLifetime(observation) {}
        let next = StoredLife(home.file("state"))
        #expect(next.events == [.opened(path: next.file, entries: 1)])
    }

    @Test("who withdraws what others have settled already takes nothing of theirs")
    func others() throws {
        let life = StoredLife(home.file("state"))
        let size = try life.number("Size")
        #expect(try life.propose(["Size": 2]) == nil)
        size.value = 2
        life.tried()
        #expect(try life.propose(["Size": 3]) == nil)
        life.store.withdraw(try life.changes(["Size": 2]))
        #expect(try life.propose([:]) == nil)
        #expect(life.text?.contains(#""value": 3"#) == true)
    }
}
