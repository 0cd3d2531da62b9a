// Waits for cancellation in place of a daemon that serves nothing.

extension TweakDaemon {
    /// Returns when the task is canceled. It uses no timer, which would need a thread.
    static func waitForCancellation() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        // Releasing the continuation earlier would end the stream.
        continuation.finish()
    }
}
