// Waits until the value of a tweak or figure fulfills a condition, also while the process restarts.

import Tweaks
import TweaksSystem
import TweaksWire

/// `wait PATH OP VALUE`: prints the value and ends as soon as the condition holds.
struct WaitCommand {
    private let target: Target
    private let console: Console
    private let request: WaitRequest
    /// When it gives up; nil waits without a limit.
    private let deadline: ContinuousClock.Instant?
    /// The path as a token of the protocol, once the process has described it: from then on it is waited for.
    private var token: String?
    /// The value that it has seen last.
    private var lastSeen: TweakValue?

    /// The usage line.
    static let usage = "[NAME] wait PATH OP VALUE"

    /// - Parameter words: The words after the process's name; nil where they are another command.
    init?(_ words: [String], _ target: Target, _ console: Console) throws(Failure) {
        guard words.first == Verb.wait.rawValue else { return nil }
        request = try WaitRequest(Array(words.dropFirst()))
        self.target = target
        self.console = console
        // Each answer has the usual timeout; only a given one limits the waiting.
        let limit = target.timeout == .standard ? nil : target.timeout.milliseconds
        deadline = limit.map { .now + .milliseconds($0) }
    }

    mutating func run() throws(Failure) -> ExitCode {
        var backoff = Backoff(Watcher.pauses)
        while true {
            do throws(Failure) {
                if try follow(try target.within(left()).connect()) { return .ok }
                backoff.reset()
            } catch {
                _ = try left()
                // A process that starts again is not reachable for a while, and then may have too many clients.
                if token == nil || ![.unreachable, .timeout].contains(error.code) { throw error }
            }
            System.pause(milliseconds: try left(atMost: backoff.next()))
        }
    }

    /// Reads the value and follows its changes, until the connection ends.
    /// - Returns: Whether the condition holds.
    private mutating func follow(_ connection: Connection) throws(Failure) -> Bool {
        let path = CommandText.token(request.path)
        guard try answer("json on", on: connection) != nil,
            let described = try answer("\(Command.describe.name) \(path)", on: connection)
        else { return false }
        let condition = try WaitCondition(request, of: JSON(described.status))
        token = condition.token
        guard let shown = try answer("\(Command.watch.name) \(path)", on: connection) else { return false }
        let tweak = shown.tweaks.first ?? .null
        if try meets(condition, tweak, revision: shown.revision) { return true }
        while true {
            while let message = connection.nextMessage() {
                guard case .event(let line) = message, let event = JSON(line), event["value"] != nil else { continue }
                if try meets(condition, event, revision: event["rev"]?.wholeNumber) { return true }
            }
            if connection.hasEnded { return false }
            if System.wait([(connection.number, .read)], milliseconds: try left())[0].canRead { connection.receive() }
        }
    }

    /// The answer to a line; nil if it has to be asked again on another connection. A process that has just started may
    /// not have registered the tweak yet, or have no place for another session.
    private func answer(_ line: String, on connection: Connection) throws(Failure) -> Answer? {
        let target = target.within(try left())
        guard let answer = target.response(to: line, on: connection) else {
            if token == nil { throw target.failure(of: connection, to: line) }
            return nil
        }
        guard answer.isRefusal else { return answer }
        if token != nil, !Watcher.finalCodes.contains(answer.errorCode) { return nil }
        throw Failure(.refused, "\(target.name): \(answer.complaint)")
    }

    private mutating func meets(_ condition: WaitCondition, _ tweak: JSON, revision: UInt64?) throws(Failure) -> Bool {
        guard let value = condition.value(in: tweak) else { return false }
        lastSeen = value
        guard condition.holds(for: value) else { return false }
        if console.isJSON {
            let fields: [(String, JSON)] = [
                ("ok", .bool(true)), ("path", .string(request.path)), ("value", value.json),
                ("rev", revision.map { .count($0) } ?? .null),
            ]
            console.print([Quoting.sanitized(JSON.object(fields).text)])
        } else {
            console.printBody(Answer(body: ["\(condition.token) = \(value.text)"], status: "", isRefusal: false))
        }
        return true
    }

    /// The milliseconds until it gives up.
    private func left(atMost pause: Duration) throws(Failure) -> Int32 {
        let pause = Int32(pause / .milliseconds(1))
        return min(try left() ?? pause, pause)
    }

    private func left() throws(Failure) -> Int32? {
        guard let deadline else { return nil }
        let milliseconds = (deadline - .now) / .milliseconds(1)
        if milliseconds > 0 { return Int32(min(milliseconds.rounded(.up), Double(Int32.max))) }
        let state = lastSeen.map { "is \(Quoting.sanitized($0.text))" } ?? "was not read"
        throw Failure(
            .timeout,
            "wait: \(request.text) has not come true within \(target.timeout.text); \(Quoting.sanitized(request.path)) "
                + "\(state); wait longer with --timeout, or off")
    }
}

/// The words of a condition.
struct WaitRequest: Equatable {
    let path: String
    let relation: WaitRelation
    let operand: String

    /// - Parameter words: Three words, or one that is the whole condition.
    init(_ words: [String]) throws(Failure) {
        let words = words.count == 1 ? CommandText.tokens(words[0]).map(\.text) : words
        guard words.count == 3, let relation = WaitRelation(rawValue: words[1]) else { throw Self.malformed }
        (path, self.relation, operand) = (words[0], relation, words[2])
    }

    var text: String { Quoting.sanitized("\(path) \(relation.rawValue) \(operand)") }

    private static let malformed = Failure(
        .usage,
        "wait: write a condition in quotes, as in tweakctl NAME wait 'Service/Errors/Rate > 5', with = != < <= > or >=; "
            + "the shell takes a > without quotes for the name of a file")
}

/// How a value and the operand of a condition relate.
enum WaitRelation: String, CaseIterable {
    case equal = "="
    case unequal = "!="
    case less = "<"
    case atMost = "<="
    case more = ">"
    case atLeast = ">="

    var needsOrder: Bool { ![.equal, .unequal].contains(self) }

    func holds<Number: Comparable>(_ left: Number, _ right: Number) -> Bool {
        switch self {
        case .equal: left == right
        case .unequal: left != right
        case .less: left < right
        case .atMost: left <= right
        case .more: left > right
        case .atLeast: left >= right
        }
    }
}

/// A condition on the values of one kind.
struct WaitCondition {
    /// The path as a token of the protocol.
    let token: String
    private let kind: TweakKind
    private let component: TweakKind?
    private let relation: WaitRelation
    private let operand: TweakValue

    /// - Parameter description: What the process answers to `describe`.
    init(_ request: WaitRequest, of description: JSON?) throws(Failure) {
        let path = Quoting.sanitized(request.path)
        guard let description, let kind = description["kind"]?.string.flatMap(TweakKind.init(rawValue:)) else {
            throw Failure(
                .refused, "wait: \(path) is described in a way that this version does not know; update tweakctl")
        }
        if kind == .action { throw Failure(.refused, "wait: \(path) is an action, which has no value; name a tweak") }
        if description["flags"]?.elements.contains(.string("secret")) == true {
            throw Failure(.refused, "wait: \(path) is secret, and its value is not shown; name another tweak")
        }
        component = description["of"]?.string.flatMap(TweakKind.init(rawValue:))
        guard let operand = TweakValue(parsing: request.operand, as: kind, of: component) else {
            throw Failure(
                .usage,
                "wait: \(Quoting.excerpt(request.operand)) is not \(kind.phrase), as \(path) is; write it as get does")
        }
        let isOrdered = operand.whole != nil || operand.kind == .number
        if request.relation.needsOrder, !isOrdered {
            throw Failure(
                .usage, "wait: \(path) is \(kind.phrase), and these are not ordered; use = or !=")
        }
        (self.kind, relation, self.operand) = (kind, request.relation, operand)
        token = CommandText.token(request.path)
    }

    /// The value in the object that shows a tweak or its change.
    func value(in tweak: JSON) -> TweakValue? {
        tweak["value"].flatMap { TweakValue($0, as: kind, of: component) }
    }

    func holds(for value: TweakValue) -> Bool {
        if let left = value.whole, let right = operand.whole { return relation.holds(left, right) }
        if case (.number(let left), .number(let right)) = (value, operand) { return relation.holds(left, right) }
        switch relation {
        case .equal: return value == operand
        case .unequal: return value != operand
        // An optional without a value is neither less nor more than a number.
        case .less, .atMost, .more, .atLeast: return false
        }
    }
}
