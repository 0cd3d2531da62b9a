// Waiting for what no read can wait for, with an end: a test that fails says more than one that hangs.

package import Testing
package import TweaksServer

/// Looks until something is so. Between two looks a stepped server takes a turn, which waits for clients and for other
/// threads; without one nothing tells of what is looked for, and every look asks a server or a file.
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
