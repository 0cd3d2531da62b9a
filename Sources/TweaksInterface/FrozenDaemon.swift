// Waits in place of a daemon that serves nothing.

extension TweakDaemon {
    /// Returns when the task is cancelled. Without a timer: that would have a thread.
    static func waitForCancellation() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        // Let go of any earlier, it would end the stream.
        continuation.finish()
    }
}
