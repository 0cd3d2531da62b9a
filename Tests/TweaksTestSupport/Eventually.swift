// Polls a condition, with a time limit: a failing test is more useful than one that hangs.

package import Testing
package import TweaksServer

/// Evaluates a condition until it holds. In between a stepped server takes a turn, which waits for clients and for
/// other threads; without a server the condition is evaluated again at once.
/// - Throws: ``ClientError/timeout(_:)`` when it does not hold within the timeout.
package func eventually(
    turning server: SteppedServer? = nil, at location: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) throws {
    let end = ContinuousClock.now + .milliseconds(Int64(TestClient.timeout))
    while try !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("the condition did not hold within the timeout", sourceLocation: location)
            throw ClientError.timeout("eventually")
        }
        server?.turn(timeout: 100)
    }
}
