// Waits for a condition that no read reports, with a time limit: a test that fails says more than one that hangs.

package import Testing
package import TweaksServer

/// Evaluates a condition until it holds. In between a stepped server takes a turn, which waits for clients and for other
/// threads; without one the condition is polled, at the pace of the server or file that it asks.
/// - Throws: ``ClientError/timeout(_:)`` when it is not for very long.
package func eventually(
    turning server: SteppedServer? = nil, at location: SourceLocation = #_sourceLocation, _ isSo: () throws -> Bool
) throws {
    let end = ContinuousClock.now + .milliseconds(Int64(TestClient.patience))
    while try !isSo() {
        guard ContinuousClock.now < end else {
            Issue.record("it is not so for very long", sourceLocation: location)
            throw ClientError.timeout("eventually")
        }
        server?.turn(patience: 100)
    }
}
