// Where requests are let through or turned down: what all conversations share.

import TweaksDaemon

/// What a client is told: one line for each of its lines.
enum Answer: Equatable {
    case ok(String)
    case error(String)
    /// Too many requests; when to come back, unless that is never.
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

    /// Whether it took work, which takes time; to say no takes none.
    var isWork: Bool {
        switch self {
        case .ok, .error: true
        case .busy, .maintenance, .bye: false
        }
    }
}

/// Judges each request, and keeps count.
struct Desk {
    private var clients = Clients()
    var counts = Counts()

    /// The answer to a line.
    mutating func answer(_ line: LineSplitter.Line, of client: String, at now: Instant) -> Answer {
        // Leaving is free, and always possible.
        if line == .text("quit") { return .bye }
        let answer = admit(client, at: now) ?? Self.work(line)
        if answer.isWork { counts.requests += 1 } else { counts.refused += 1 }
        counts.busiest = clients.busiest
        Log.debug("\(client): \(line) → \(answer.line.debugDescription)")
        return answer
    }

    /// Counts from 0 again.
    mutating func zero() {
        clients.zero()
        counts = Counts()
    }

    /// Nil when the request may pass.
    private mutating func admit(_ client: String, at now: Instant) -> Answer? {
        if Maintenance.isOn.value { return .maintenance(Maintenance.text.value) }
        return switch clients.admit(client, at: now) {
        case .taken: nil
        case .empty(let retry): .busy(retry: retry)
        }
    }

    private static func work(_ line: LineSplitter.Line) -> Answer {
        switch line {
        case .text(let text): Command.answer(text)
        case .tooLong(let limit): .error("a line has at most \(limit) bytes")
        case .garbled: .error("a line is UTF-8")
        case .unfinished: .error("the last line has no end")
        }
    }
}
