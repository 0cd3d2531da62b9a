// The command watch, which goes on when the process restarts.

import Tweaks
import TweaksTerminal
import TweaksWire

/// Follows patterns of one process until Ctrl-C.
struct Watcher {
    private let target: Target
    private let request: String
    private let console: Console
    /// The process as it was seen last; another one begins anew.
    private var instance: String?
    /// Up to here all changes were shown.
    private var seen: UInt64 = 0
    /// The revision of the last event: more of the same may have been under way.
    private var current: UInt64 = 0

    /// How long a process may take to say who it is.
    private static let patience: Int32 = 3_000

    /// Refusals that trying again does not change: a token has ended.
    private static let closed = [TweakError.Code.authRequired, .denied].map(\.rawValue)

    init(_ target: Target, _ words: [String], _ console: Console) {
        (self.target, self.console) = (target, console)
        request = CommandText.line(words)
    }

    /// Watches; returns only when the first attempt fails, or when a later one is not allowed any more.
    mutating func run() throws(Failure) -> ExitCode {
        System.succeedOnInterrupt()
        let first = try target.connect()
        if let refused = follow(first) { return refused }
        say("lost", "lost, trying again")
        var pause: Int32 = 50
        while true {
            leaveIfUnread()
            // Whoever read our output may go meanwhile.
            if System.wait([(1, .end)], milliseconds: pause)[0].canRead { System.exit(.ok) }
            pause = min(pause * 2, 2_000)
            let connection: Connection
            do throws(Failure) {
                connection = try target.connect()
            } catch {
                if error.code != .refused { continue }
                console.complain(error.description)
                return .refused
            }
            switch follow(connection, isFirst: false) {
            case nil: break
            case .refused?: return .refused
            // It may not be ready yet: once more, patiently.
            default: continue
            }
            say("lost", "lost, trying again")
            pause = 50
        }
    }

    /// Watches on one connection until it ends.
    /// - Returns: Why it was not even begun; nil after the end.
    private mutating func follow(_ connection: Connection, isFirst: Bool = true) -> ExitCode? {
        guard let hello = connection.ask("hello 1", within: Self.patience) else {
            if isFirst { console.complain("\(target.name): does not speak the tweak protocol") }
            return .unreachable
        }
        if hello.isRefusal { return refused(hello, isFirst) }
        let isSame = instance != nil && hello.fact("instance") == instance
        if console.isJSON { _ = connection.ask("json on", within: Self.patience) }
        let line = isSame && !request.contains(" since ") ? "\(request) since \(seen)" : request
        guard let answer = connection.ask(line, within: Self.patience) else {
            if isFirst { console.complain(target.silence.description) }
            return .unreachable
        }
        if answer.isRefusal { return refused(answer, isFirst) }
        if !isFirst, !isSame { say("restarted", "\(hello.fact("name") ?? target.name) restarted") }
        instance = hello.fact("instance")
        seen = answer.revision ?? Self.revision(of: answer.status) ?? 0
        current = seen
        console.report(answer)
        showEvents(of: connection)
        return nil
    }

    /// A process that has just started may not have registered all of its tweaks yet, or be full: then it is asked again.
    private func refused(_ answer: Answer, _ isFirst: Bool) -> ExitCode {
        let isFinal = isFirst || Self.closed.contains(answer.errorCode ?? "")
        if isFinal { console.report(answer) }
        return isFinal ? .refused : .unreachable
    }

    /// Nothing is followed for nobody.
    private func leaveIfUnread() {
        if Console.outputHasFailed { System.exit(.refused) }
        if Console.outputIsUnread { System.exit(.ok) }
    }

    private mutating func showEvents(of connection: Connection) {
        while true {
            while let message = connection.arrivedMessage() {
                guard case .event(let text) = message else { continue }
                note(text)
                console.printEvent(text)
            }
            leaveIfUnread()
            if connection.hasEnded { return }
            let ready = System.wait([(connection.number, .read), (1, .end)])
            // Whoever read our output has gone.
            if ready[1].canRead { System.exit(.ok) }
            connection.receive()
        }
    }

    private mutating func note(_ event: String) {
        guard let revision = Self.revision(of: event), revision > current else { return }
        (seen, current) = (current, revision)
    }

    /// Of `event 44 …`, or of `{"event":"change","rev":44,…`.
    static func revision(of event: String) -> UInt64? {
        if event.hasPrefix("event ") { return event.split(separator: " ").dropFirst().first.flatMap { UInt64($0) } }
        guard let key = event.firstRange(of: "\"rev\":") else { return nil }
        return UInt64(event[key.upperBound...].prefix { $0.isNumber })
    }

    /// A remark, which reads back as a comment; in JSON an event of ours.
    private func say(_ event: String, _ text: String) {
        if console.isJSON {
            console.print([JSON.object([("event", .string(event)), ("name", .string(target.name))]).text])
        } else {
            console.print([console.style.paint(Quoting.sanitized("# \(text)"), .marked)])
        }
    }
}
