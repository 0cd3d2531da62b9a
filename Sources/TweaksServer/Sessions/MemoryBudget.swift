// Counts the bytes that clients make the process hold, as they come and go, so that nothing has to be searched.

import Tweaks
import TweaksWire

/// The budget of a server. Sessions may have what the values and the history leave, and a quarter in any case.
struct MemoryBudget {
    let limit: Int
    /// What all sessions hold, each by itself.
    var sessions = 0
    /// What they hold together.
    let pinned = PinnedBytes.Total()

    init(limit: Int) { self.limit = limit }

    /// What is never taken from sessions.
    private var share: Int { limit / 4 }
    /// The history forgets its oldest commits before it takes more.
    var historyShare: Int { limit / 4 }
    /// The ways back from presets take no more.
    var swapShare: Int { limit / 8 }

    /// How many bytes sessions have to give back.
    /// - Parameter others: What the rest holds; asked for only where that matters.
    func excess(_ others: () -> Int) -> Int {
        let held = sessions + pinned.bytes
        if held <= share { return 0 }
        return max(held - max(limit - others(), share), 0)
    }

    /// Whether texts that take so many bytes may become longer by so many.
    func allows(_ growth: Int, to bytes: Int) -> Bool { growth <= 0 || bytes + growth <= limit / 2 }
}

extension Session {
    /// What it holds now.
    var memory: Int {
        var bytes =
            output.heldBytes + dialect.heldBytes + events.heldBytes + replies.heldBytes + credentials.scopeBytes
        if let batch { bytes += batch.heldBytes }
        if case .running(let running) = work { bytes += running.proposal?.heldBytes ?? 0 }
        return bytes
    }

    /// What would be free without it, perhaps: others may hold the same snapshot.
    var greed: Int { payer.heldBytes + replies.pinnedBytes }
}

extension Executor {
    /// What is held beside sessions.
    var stateBytes: Int {
        let held = registry.heldBytes
        return held.values + held.history + swapBytes
    }

    /// Whether texts may become longer by so many bytes.
    func hasRoom(for growth: Int) -> Bool { memory.allows(growth, to: registry.heldBytes.values) }

    /// Refuses a batch after which the texts would take too much memory.
    func refuseGrowth(_ batch: TweakBatch) throws(TweakError) {
        // Hardly any is worth asking for.
        if batch.textBytes < 256 || hasRoom(for: registry.textGrowth(batch)) { return }
        throw TweakError(
            .tooMany,
            "texts that were set may take \(memory.limit / 2) bytes of memory, and this would be more; reset some, or raise "
                + "memoryBytes; nothing was changed", limit: .memoryBytes)
    }
}
