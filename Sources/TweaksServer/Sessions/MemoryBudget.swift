// Counts the memory that clients occupy, incrementally.

import Tweaks
import TweaksWire

/// The memory budget of a server. Sessions and the kernel's buffers of their connections may use what values and history
/// leave, and at least a quarter.
struct MemoryBudget {
    let limit: Int
    /// The bytes held by single sessions.
    var sessions = 0
    /// The bytes in full send buffers of the kernel.
    var kernel = 0
    /// The bytes that all buffers of the kernel may hold at their present sizes.
    var reserved = 0
    /// The bytes that receive buffers of the kernel may hold which are not read.
    var unread = 0
    /// The bytes shared between sessions.
    let pinned = PinnedBytes.Total()

    init(limit: Int) { self.limit = limit }

    /// The bytes that sessions may always use.
    private var share: Int { limit / 4 }
    /// The limit of the history, which forgets its oldest commits beyond it.
    var historyShare: Int { limit / 4 }

    /// The bytes that sessions have to free.
    /// - Parameter others: The bytes held otherwise; evaluated only when needed.
    func excess(_ others: () -> Int) -> Int {
        let used = sessions + pinned.bytes + max(kernel, reserved) + unread
        if used <= share { return 0 }
        return max(used - max(limit - others(), share), 0)
    }

    /// Whether texts of this size may grow by so many bytes.
    func allows(_ growth: Int, to bytes: Int) -> Bool { growth <= 0 || bytes + growth <= limit / 2 }
}

extension Session {
    /// The bytes that the session holds now.
    var memory: Int {
        var bytes =
            output.memorySize + dialect.memorySize + events.memorySize + replies.memorySize + credentials.scopeBytes
        if let batch { bytes += batch.memorySize }
        switch work {
        case .running(let running): return bytes + (running.proposal?.memorySize ?? 0)
        case .sweeping(let sweep, _): return bytes + sweep.memorySize
        default: return bytes
        }
    }

    /// The bytes that ending it could free; others may share its snapshot, or read the same changes.
    var reclaimableBytes: Int {
        accounts.memorySize + replies.pinnedBytes + (events.position?.pinnedBytes ?? 0)
    }
}

extension Executor {
    /// The bytes held outside sessions.
    var stateBytes: Int {
        let used = registry.memorySize
        return used.values + used.history + hub.memorySize
    }

    /// Whether texts may grow by so many bytes.
    func hasRoom(for growth: Int) -> Bool { memory.allows(growth, to: registry.memorySize.values) }

    /// Throws if the texts would take too much memory after a batch.
    func refuseGrowth(_ batch: TweakBatch) throws(TweakError) {
        // Small batches skip the exact check.
        let most = batch.textBytes
        if most < 256 || hasRoom(for: most) || hasRoom(for: registry.textGrowth(batch)) { return }
        throw TweakError(
            .tooMany,
            "texts that were set may take \(memory.limit / 2) bytes of memory, and this would be more; reset some, or raise "
                + "memoryBytes; nothing was changed", limit: .memoryBytes)
    }
}
