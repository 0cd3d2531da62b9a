// Waiting for what tells nobody that it has come, with an end: a test that fails says more than one that hangs.

package import Testing

/// Looks again and again until something is so.
/// - Throws: ``ClientError/timeout(_:)`` when it is not for very long.
package func eventually(at location: SourceLocation = #_sourceLocation, _ isSo: () throws -> Bool) throws {
    let end = ContinuousClock.now + .milliseconds(Int64(TestClient.patience))
    while try !isSo() {
        guard ContinuousClock.now < end else {
            Issue.record("it is not so for very long", sourceLocation: location)
            throw ClientError.timeout("eventually")
        }
    }
}
