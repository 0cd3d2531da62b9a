// Stores the deadlines of sessions and of the server, earliest first.

import Tweaks

/// A heap of deadlines. The handler checks whether a deadline still matters.
struct Timers {
    enum Kind {
        case firstLine, request, authentication, authenticationDelay, idle, heartbeat, closeReason, drain
        /// Deadlines of the server.
        case accepting, tokens, sockets, stopping
    }

    struct Entry {
        let deadline: Moment
        let session: SessionID
        let kind: Kind
    }

    private var heap: [Entry] = []

    /// The earliest deadline.
    var next: Moment? { heap.first?.deadline }

    var count: Int { heap.count }

    /// Removes the entries of ended sessions once these are the majority: each session leaves some behind, and there
    /// may be thousands of sessions per second. Fewer entries stay than are removed, so the amortized cost is constant.
    mutating func compact(limit: Int, isAlive: (SessionID) -> Bool) {
        if heap.count <= limit { return }
        let alive = heap.filter { $0.session == .server || isAlive($0.session) }
        heap = []
        for entry in alive { add(entry) }
    }

    mutating func add(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0, heap[child].deadline < heap[(child - 1) / 2].deadline {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes and returns the earliest entry if it is due.
    mutating func popDue(_ now: Moment) -> Entry? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while let child = smallestChild(parent), heap[child].deadline < heap[parent].deadline {
            heap.swapAt(child, parent)
            parent = child
        }
        return first
    }

    private func smallestChild(_ parent: Int) -> Int? {
        let (left, right) = (2 * parent + 1, 2 * parent + 2)
        guard left < heap.count else { return nil }
        return right < heap.count && heap[right].deadline < heap[left].deadline ? right : left
    }
}
