// Handles requests: checks maintenance and the rate limit, runs the command, and counts.

import TweaksDaemon

/// The reply to a request: one line.
enum Answer: Equatable {
    case ok(String)
    case error(String)
    /// Too many requests; the time until the next one is allowed, or nil for never.
    case busy(retry: Duration?)
    case maintenance(String)
    case bye

    /// The line, without its end.
    var line: String {
        switch self {
        case .ok(let text): "ok \(text)"
        case .error(let text): "error \(text)"
        case .busy(let retry?): "busy retry in \(TweakValue.duration(retry).text)"
        case .busy(nil): "busy"
        case .maintenance(let text): "maintenance \(text)"
        case .bye: "bye"
        }
    }

    /// Whether the request was executed; only such replies are delayed.
    var isResult: Bool {
        switch self {
        case .ok, .error: true
        case .busy, .maintenance, .bye: false
        }
    }
}

/// The request handling that all connections share.
struct RequestHandler {
    private var limiter = RateLimiter()
    var counts = Counts()

    /// Handles one line of a client.
    mutating func answer(_ line: LineSplitter.Line, of client: String, at now: Instant) -> Answer {
        // Always allowed, and never counted.
        if line == .text("quit") { return .bye }
        let answer = refusal(of: client, at: now) ?? Self.execute(line)
        if answer.isResult { counts.requests += 1 } else { counts.refused += 1 }
        counts.busiest = limiter.busiest
        Log.debug("\(client): \(line) → \(answer.line.debugDescription)")
        return answer
    }

    mutating func resetCounts() {
        limiter.resetCounts()
        counts = Counts()
    }

    /// The refusal of a request; nil when it is admitted.
    private mutating func refusal(of client: String, at now: Instant) -> Answer? {
        if Maintenance.isOn.value { return .maintenance(Maintenance.text.value) }
        return switch limiter.admit(client, at: now) {
        case .taken: nil
        case .empty(let retry): .busy(retry: retry)
        }
    }

    private static func execute(_ line: LineSplitter.Line) -> Answer {
        switch line {
        case .text(let text): Command.answer(text)
        case .tooLong(let limit): .error("a line has at most \(limit) bytes")
        case .invalidUTF8: .error("the line is not valid UTF-8")
        case .unterminated: .error("the last line has no line break")
        }
    }
}
