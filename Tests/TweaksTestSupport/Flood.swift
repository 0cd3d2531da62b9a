// Opens connections as fast as they are answered, to test who gets in beside them.

import Foundation
import Synchronization

/// A thread that opens connections with a request each, and keeps the last of them.
package final class Flood: Sendable {
    /// Opens when there are more connections than a server has places for unauthenticated ones.
    package let hasBegun = Gate()
    private let isOver = Atomic(false)
    private let hasEnded = Gate()

    /// - Parameter request: What each connection sends; it is answered by a line at least.
    package init(_ port: Int, _ request: String) {
        Thread.detachNewThread { [self] in
            var clients: [TestClient] = []
            while !isOver.load(ordering: .relaxed) {
                if let client = try? TestClient(port: port), (try? client.send(request)) != nil {
                    _ = try? client.line()
                    clients.append(client)
                }
                // More than there are places.
                if clients.count > 100 { hasBegun.open() }
                if clients.count > 200 { clients.removeFirst(100) }
            }
            hasEnded.open()
        }
    }

    /// Returns when the thread has ended.
    package func end() {
        isOver.store(true, ordering: .relaxed)
        hasEnded.waitBlocking()
    }
}
