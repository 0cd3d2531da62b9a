// Measures one session while another one keeps the server busy.

import Dispatch
import Foundation
import Synchronization

enum Contention {
    /// Prints how long pings take while another session sends expensive requests, compared with pings alone.
    /// - Parameter load: Sends requests on the other session's connection; repeated until the pings are done.
    static func report(
        _ name: String, port: UInt16, pings count: Int, _ load: @escaping @Sendable (Connection) throws -> Void
    ) throws {
        let connection = try Connection(port: port)
        let alone = try connection.latencies(count, "ping\n")
        let stop = Atomic(false)
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            defer { ended.signal() }
            guard let greedy = try? Connection(port: port) else { return }
            while !stop.load(ordering: .relaxed) { try? load(greedy) }
        }
        thread.start()
        let together = try connection.latencies(count, "ping\n")
        stop.store(true, ordering: .relaxed)
        ended.wait()
        Table.row("\(name), p99 / alone", ours: together, theirs: alone, 0.99, goal: "no stall: below 10 ms")
    }
}
