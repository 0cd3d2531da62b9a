// Runs the command `watch`, and reconnects when the process restarts.

import Tweaks
import TweaksSystem
import TweaksWire

/// Follows patterns of one process until Ctrl-C.
struct Watcher {
    private let target: Target
    private let request: String
    private let console: Console
    /// The `instance` of the last `hello`; another value means that the process restarted.
    private var instance: String?
    /// All changes up to this revision were printed.
    private var seen: UInt64 = 0
    /// The revision of the last event; it may have further events that have not arrived.
    private var current: UInt64 = 0

    /// Error codes that retrying does not change: the token has ended.
    static let finalCodes: [TweakError.Code?] = [.authRequired, .denied]

    /// The pauses before attempts to reconnect.
    static let pauses = Duration.milliseconds(50)...Duration.seconds(2)

    init(_ target: Target, _ words: [String], _ console: Console) {
        self.target = target
        self.console = console
        request = CommandText.line(words)
    }

    /// Watches until Ctrl-C; returns only when the first attempt fails, or a later one is refused permanently.
    mutating func run() throws(Failure) -> ExitCode {
        System.succeedOnInterrupt()
        let first = try target.connect()
        if let refused = follow(first) { return refused }
        printRemark("lost", "disconnected, retrying")
        var backoff = Backoff(Self.pauses)
        while true {
            exitWithoutReader()
            // The reader of the output may close it during the pause.
            let pause = Int32(backoff.next() / .milliseconds(1))
            if System.wait([(1, .end)], milliseconds: pause)[0].canRead { System.exit(.ok) }
            let connection: Connection
            do throws(Failure) {
                connection = try target.connect()
            } catch {
                if error.code != .refused { continue }
                console.report(error)
                return .refused
            }
            switch follow(connection, isFirst: false) {
            case nil: break
            case .refused?: return .refused
            // The process may not be ready yet: retry after a longer pause.
            default: continue
            }
            printRemark("lost", "disconnected, retrying")
            backoff.reset()
        }
    }

    /// Watches on one connection until it ends.
    /// - Returns: Why the watch did not start; nil after its end.
    private mutating func follow(_ connection: Connection, isFirst: Bool = true) -> ExitCode? {
        guard let hello = connection.ask("hello 1", within: target.timeout.milliseconds) else {
            if connection.hasTimedOut { return unanswered(connection, isFirst) }
            if isFirst {
                console.report(Failure(.unreachable, "\(target.name): does not speak the tweak protocol"))
            }
            return .unreachable
        }
        if hello.isRefusal { return refused(hello, isFirst) }
        let isSame = instance != nil && hello.field("instance") == instance
        if console.isJSON { _ = connection.ask("json on", within: target.timeout.milliseconds) }
        let line = isSame && !request.contains(" since ") ? "\(request) since \(seen)" : request
        let wantsFields = console.style.isHumanReadable
        guard let answer = connection.ask(line, within: target.timeout.milliseconds, withFields: wantsFields) else {
            return unanswered(connection, isFirst)
        }
        if answer.isRefusal { return refused(answer, isFirst) }
        if !isFirst, !isSame { printRemark("restarted", "\(hello.field("name") ?? target.name) restarted") }
        instance = hello.field("instance")
        seen = answer.revision ?? 0
        current = seen
        console.report(answer)
        showEvents(of: connection)
        return nil
    }

    private func unanswered(_ connection: Connection, _ isFirst: Bool) -> ExitCode {
        let failure = target.failure(of: connection)
        if isFirst { console.report(failure) }
        return failure.code
    }

    /// Handles a refusal. A process that has just started may not have registered all of its tweaks yet, or have no
    /// free session: then the watch is retried.
    private func refused(_ answer: Answer, _ isFirst: Bool) -> ExitCode {
        let isFinal = isFirst || Self.finalCodes.contains(answer.errorCode)
        if isFinal { console.report(answer) }
        return isFinal ? .refused : .unreachable
    }

    /// Exits when standard output has no reader.
    private func exitWithoutReader() {
        if Console.outputHasFailed { System.exit(.refused) }
        if Console.outputIsUnread { System.exit(.ok) }
    }

    private mutating func showEvents(of connection: Connection) {
        while true {
            while let message = connection.nextMessage() {
                guard case .event(let text) = message else { continue }
                advance(past: text)
                console.printEvent(text)
            }
            exitWithoutReader()
            if connection.hasEnded { return }
            let ready = System.wait([(connection.number, .read), (1, .end)])
            // The reader of the output has closed it.
            if ready[1].canRead { System.exit(.ok) }
            connection.receive()
        }
    }

    private mutating func advance(past event: String) {
        guard let revision = Self.revision(of: event), revision > current else { return }
        seen = current
        current = revision
    }

    /// The revision of `event 44 …`, or of `{"event":"change","rev":44,…`.
    static func revision(of event: String) -> UInt64? {
        if event.hasPrefix("event ") { return event.split(separator: " ").dropFirst().first.flatMap { UInt64($0) } }
        guard let key = event.firstRange(of: "\"rev\":") else { return nil }
        return UInt64(event[key.upperBound...].prefix { $0.isNumber })
    }

    /// Prints a remark: a comment line, or a JSON event of tweakctl.
    private func printRemark(_ event: String, _ text: String) {
        if console.isJSON {
            console.print([JSON.object([("event", .string(event)), ("name", .string(target.name))]).text])
        } else {
            console.print([console.style.paint(Quoting.sanitized("# \(text)"), .marked)])
        }
    }
}
