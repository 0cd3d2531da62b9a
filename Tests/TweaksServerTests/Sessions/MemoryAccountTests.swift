// Tests the memory account: each session is charged for what it holds now, and the budget counts everything once.

import Testing
import Tweaks
import TweaksWire

@testable import TweaksServer

@Suite struct MemoryAccountTests {
    private func session(_ number: UInt64) -> Session {
        Session(
            id: SessionID(number: number, descriptor: -1), descriptor: Descriptor(-1),
            peer: Peer(address: "127.0.0.1", port: 1), isDenied: false, now: .now, dialect: LineDialect(limit: 100))
    }

    @Test func aChargeReplacesTheEarlierOneOfItsSession() {
        var account = MemoryAccount(limit: 1_000)
        let (first, second) = (session(1), session(2))
        account.charge(MemoryUse(own: 100, unsent: 20, unread: 3), to: first)
        account.charge(MemoryUse(own: 50), to: second)
        account.charge(MemoryUse(own: 10, unread: 1), to: first)
        #expect(account.sessions == MemoryUse(own: 60, unsent: 0, unread: 1))
        account.charge(MemoryUse(), to: first)
        account.charge(MemoryUse(), to: second)
        #expect(account.held == 0)
    }

    /// Sessions may use what values and history leave, and at least a quarter.
    @Test(arguments: [(used: 250, others: 5_000, excess: 0), (251, 5_000, 1), (700, 300, 0), (701, 300, 1)])
    func theBudgetLeavesAQuarterToSessions(_ row: (used: Int, others: Int, excess: Int)) {
        var account = MemoryAccount(limit: 1_000)
        account.charge(MemoryUse(own: row.used), to: session(1))
        #expect(account.excess { row.others } == row.excess)
    }

    /// Full buffers of the kernel are part of what is reserved for all.
    @Test func reservedBuffersAreNotCountedTwice() {
        var account = MemoryAccount(limit: 1_000)
        let session = session(1)
        account.reserved = 400
        account.charge(MemoryUse(own: 100, unsent: 300), to: session)
        #expect(account.excess { 400 } == 0)
        account.charge(MemoryUse(own: 100, unsent: 600), to: session)
        #expect(account.excess { 400 } == 100)
    }

    /// A snapshot that several replies show is held once, as long as one of them does.
    @Test func whatRepliesShareIsHeldOnce() {
        let account = MemoryAccount(limit: 1_000)
        var pins = [PinnedBytes(50, in: account.pinned)]
        pins.append(pins[0])
        #expect(account.held == 50)
        pins = []
        #expect(account.held == 0)
    }
}
