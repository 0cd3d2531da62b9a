// How long to wait for another machine.

/// How long to wait for another machine: to be connected, to hear something, and in all.
///
/// ```swift
/// static let timeouts = TweakGroup("Upstream", "Payments", "Timeout", TweakTimeouts(total: .seconds(5)))
/// ```
public struct TweakTimeouts: TweakTemplate {
    /// Until there is a connection.
    public var connect: Duration
    /// Until something is heard.
    public var read: Duration
    /// Until all of it is done.
    public var total: Duration

    /// Timeouts.
    public init(connect: Duration = .seconds(2), read: Duration = .seconds(10), total: Duration = .seconds(30)) {
        self.connect = connect
        self.read = read
        self.total = total
    }

    /// Connect, read, total.
    public static let parts: [TweakPart<TweakTimeouts>] = [
        TweakPart("connect", \.connect, in: .milliseconds(1) ... .seconds(600), help: "Until there is a connection"),
        TweakPart("read", \.read, in: .milliseconds(1) ... .seconds(3_600), help: "Until something is heard"),
        TweakPart("total", \.total, in: .milliseconds(1) ... .seconds(86_400), help: "Until all of it is done"),
    ]

    /// How long a read may take that begins so much later than the whole: its own time, or what is left of the total.
    public func read(after elapsed: Duration) -> Duration {
        elapsed >= total ? .zero : min(read, total - max(elapsed, .zero))
    }
}
