// Defines a timeout template for network requests: connect, read and total.

/// Timeouts for a request to another machine: to connect, for each read, and in total.
///
/// ```swift
/// static let timeouts = TweakGroup("Upstream", "Payments", "Timeout", TweakTimeouts(total: .seconds(5)))
/// ```
public struct TweakTimeouts: TweakTemplate {
    /// The time to establish a connection.
    public var connect: Duration
    /// The time to receive data in one read.
    public var read: Duration
    /// The time for the whole request.
    public var total: Duration

    /// Timeouts.
    public init(connect: Duration = .seconds(2), read: Duration = .seconds(10), total: Duration = .seconds(30)) {
        self.connect = connect
        self.read = read
        self.total = total
    }

    /// Connect, read, total.
    public static let parts: [TweakPart<TweakTimeouts>] = [
        TweakPart("connect", \.connect, in: .milliseconds(1) ... .seconds(600), help: "Time to connect"),
        TweakPart("read", \.read, in: .milliseconds(1) ... .seconds(3_600), help: "Time to receive data in one read"),
        TweakPart("total", \.total, in: .milliseconds(1) ... .seconds(86_400), help: "Time for the whole request"),
    ]

    /// The timeout of a read that begins this long after the request: the read timeout, or the rest of the total.
    public func read(after elapsed: Duration) -> Duration {
        elapsed >= total ? .zero : min(read, total - max(elapsed, .zero))
    }
}
