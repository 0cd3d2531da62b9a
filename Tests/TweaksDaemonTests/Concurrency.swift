// Runs clients on threads of their own.

import Foundation
import TweaksTestSupport

/// Calls `body` with each number on a thread of its own, and waits for all of them.
func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            body(number)
            group.leave()
        }
    }
    group.wait()
}

/// A connection that one thread uses, to which it was handed over.
struct SendableClient: @unchecked Sendable {
    let client: TestClient

    init(_ client: TestClient) { self.client = client }
}
