// Tests sessions against a model, with random actions in random order.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// A server and its model, which run the same actions.
private final class ModelHarness {
    static let names = ["ops", "guest", "brief"]

    var model: SessionModel
    var generator: SeededGenerator
    let server: AccessServer
    let admin: TestClient
    let handler = RequestHandler()
    var clients: [Int: TestClient] = [:]
    var number = 1
    /// All actions so far, for the message of a failure.
    var log: [String] = []

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        model = SessionModel(policy: [ModelScope("read", "Player")])
        let access = TweakAccess(grants: ["read:Player"], onRequest: { [handler] in handler.handle($0) })
        server = try AccessServer(access: access, hasThread: true) { $0.timeToAuthenticate = .seconds(36_000) }
        admin = try server.connect()
        try admin.ask("ping")
        model.open(1, isTCP: false)
        model.table = [
            ModelToken(name: "ops", scopes: [ModelScope("write"), ModelScope("run")]),
            ModelToken(name: "guest", scopes: [ModelScope("read", "Content")]),
            ModelToken(name: "brief", scopes: [ModelScope("write", "Content")], expires: 1_000_100),
        ]
        try replaceTokens()
    }

    func pick<Element>(_ list: [Element]) -> Element { list[Int.random(in: list.indices, using: &generator)] }

    func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &generator) == 0 }

    func scope() -> ModelScope { ModelScope(pick(ModelScope.kinds), pick(ModelScope.places)) }

    /// The open sessions without that of the administrator.
    var numbers: [Int] { model.sessions.filter { !$0.isOver && $0.number != 1 }.map(\.number) }

    // MARK: Actions

    func step() throws {
        if numbers.count < 2 || chance(6) && numbers.count < 6 { return try open() }
        let number = pick(numbers)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0...2: try authenticate(number)
        case 3...5: try request(number)
        case 6: try decide()
        case 7: try drop(number)
        case 8: try changeTable()
        case 9: try moveClock()
        case 10: try kick(number)
        default: try leave(number)
        }
    }

    private func open() throws {
        number += 1
        let isTCP = !chance(3)
        log.append("open \(number) \(isTCP)")
        let client = try isTCP ? server.connectTCP() : server.connect()
        try client.ask("ping")
        clients[number] = client
        model.open(number, isTCP: isTCP)
    }

    private func ask(_ number: Int, _ line: String, _ expected: String) throws {
        log.append("\(number) \(line)")
        let reply = try #require(clients[number]).ask(line).last ?? ""
        #expect(reply.hasPrefix(expected), "got \(reply), expected \(expected): \(log)")
    }

    private func authenticate(_ number: Int) throws {
        let token = pick(model.table)
        let secret = chance(3) ? "\(token.name)-\(token.version + 1)" : token.secret
        try ask(number, "auth twk_\(secret)", model.authenticate(number, secret: secret))
    }

    private func request(_ number: Int) throws {
        let scopes = chance(2) ? [scope()] : Array(Set([scope(), scope()])).sorted { $0.text < $1.text }
        let answer: Bool? = pick([true, false, nil, nil])
        handler.setAnswer(answer)
        let before = handler.requests.count
        let expected = model.request(number, scopes, answer: answer)
        try ask(number, "request \(scopes.map(\.text).joined(separator: " "))", expected.reply)
        #expect(handler.requests.count - before == (expected.asks ? 1 : 0), "\(log)")
    }

    /// Decides a waiting request of a session, which may have ended.
    private func decide() throws {
        let waiting = model.sessions.flatMap { session in session.waiting.map { (session.number, $0.number) } }
        guard !waiting.isEmpty else { return }
        let (number, position) = pick(waiting)
        let isAllowed = chance(2)
        log.append("decide \(number) \(isAllowed)")
        let request = handler.requests[position]
        isAllowed ? request.allow() : request.decline()
        isAllowed ? request.decline() : request.allow()
        let client = clients[number]
        guard !model.sessions[model.index(number)].isOver, let client else { return try server.settle(admin) }
        let scopes = model.decide(number, request: position, isAllowed)
        let text = "\(isAllowed ? "granted" : "declined") \(scopes.map(\.text).joined(separator: " "))"
        #expect(try client.line() == "event 0 \(text)")
    }

    private func drop(_ number: Int) throws {
        let kind = pick(ModelScope.kinds)
        model.drop(number, kind)
        try ask(number, "drop \(kind)", "ok may ")
    }

    private func changeTable() throws {
        let position = Int.random(in: model.table.indices, using: &generator)
        let name = model.table[position].name
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: model.table[position].version += 1
        case 1: model.table[position].expires = chance(2) ? nil : model.time + Int64(pick([1, 50, 200]))
        default: model.table[position].scopes = [scope(), scope()].uniqued
        }
        // The token is missing until another change of the table restores it.
        if chance(3), model.table.count > 1 { model.table.remove(at: position) }
        if chance(3), let missing = Self.names.first(where: { name in !model.table.contains { $0.name == name } }) {
            model.table.append(ModelToken(name: missing, version: number, scopes: [scope()]))
        }
        log.append("table \(name): \(model.table)")
        try replaceTokens()
        model.review()
    }

    private func replaceTokens() throws {
        let entries = try model.table.map { token in
            TokenEntry(
                name: token.name, token: "twk_\(token.secret)",
                scopes: try token.scopes.map { try TweakScope($0.text) }, expires: token.expires)
        }
        try server.replaceTokens(entries, admin)
    }

    private func moveClock() throws {
        model.time += Int64(pick([-100, 0, 60, 150, 1_000]))
        log.append("time \(model.time)")
        server.time = model.time
        try server.settle(admin)
        model.review()
    }

    private func kick(_ number: Int) throws {
        log.append("kick \(number)")
        #expect(try admin.ask("kick \(number)") == ["ok kicked \(number)"])
        model.kick(number, by: 1)
    }

    private func leave(_ number: Int) throws {
        let quits = chance(2)
        log.append("\(number) leaves \(quits)")
        if quits { try clients[number]?.ask("quit") } else { clients[number]?.endInput() }
        model.end(number, quits ? "quit" : "end of input")
    }

    // MARK: Comparison

    /// Compares each session, the list of sessions, and the events.
    func compare() throws {
        for session in model.sessions where session.isOver { try expectGone(session) }
        for session in model.sessions where !session.isOver && session.number != 1 { try compare(session) }
        let listed = try admin.ask("sessions").dropLast().map { line -> String in
            let words = line.drop { !$0.isNumber }.split(separator: " ", maxSplits: 1)
            let parts = words[1].split(separator: ",").map { $0.drop { $0 == " " } }
            return "\(words[0]) \(parts[3])"
        }
        #expect(listed == model.sessions.filter { !$0.isOver }.map { "\($0.number) \($0.state)" }, "\(log)")
        #expect(server.events.takeAllBySession() == model.events, "\(log)")
        model.events = [:]
    }

    private func compare(_ session: SessionModel.Session) throws {
        let lines = try #require(clients[session.number]).ask("whoami")
        func field(_ name: String) -> [String] {
            let values = lines.filter { $0.hasPrefix("  \(name): ") }.map { String($0.dropFirst(name.count + 4)) }
            return values == ["none"] ? [] : values
        }
        #expect(field("state") == [session.state], "\(log)")
        let abilities = ModelScope.table(field("scopes").map { ModelScope($0) })
        #expect(abilities == session.abilities, "\(session.number) \(log)")
        #expect(
            field("tokens").map { $0.split { " ,".contains($0) }[1] } == session.tokens.map { $0.name[...] }, "\(log)")
        #expect(field("granted") == session.granted.map(\.text), "\(log)")
        #expect(field("declined") == session.declined.map(\.text), "\(log)")
        #expect(field("waiting") == session.waiting.flatMap(\.scopes).map(\.text), "\(log)")
        let identity =
            session.tokens.last.map { "token \($0.name)" } ?? (session.isTCP ? "127.0.0.1:" : "uid \(geteuid())")
        #expect(field("identity")[0].hasPrefix(identity), "\(log)")
    }

    /// Expects the reason and the end of the connection.
    private func expectGone(_ session: SessionModel.Session) throws {
        guard let client = clients.removeValue(forKey: session.number) else { return }
        let lines = try client.restOfLines()
        let expected: String? =
            switch session.state.split(separator: " ", maxSplits: 1)[1] {
            case "kicked": "error closing kicked by uid \(geteuid())"
            case "revoked": "error closing token "
            case "shutdown": "error closing the process is shutting down"
            default: nil
            }
        #expect(
            lines.count == (expected == nil ? 0 : 1) && lines.first?.hasPrefix(expected ?? "") ?? true,
            "\(lines) \(log)")
    }

    /// Stops the server and expects the end of all sessions.
    func shutDown() throws {
        log.append("shutdown")
        let stopped = server.server.stopInBackground()
        clients[1] = admin
        for number in model.sessions.filter({ !$0.isOver }).map(\.number) { model.end(number, "shutdown") }
        for session in model.sessions {
            let client = clients[session.number]
            try expectGone(session)
            client?.endInput()
        }
        stopped.waitBlocking()
        #expect(server.events.takeAllBySession() == model.events, "\(log)")
    }
}

extension [ModelScope] {
    fileprivate var uniqued: [ModelScope] {
        reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

@Suite(.blocking) struct SessionModelTests {
    @Test(.tags(.quantity), arguments: 1...UInt64(quantity(8, few: 2)))
    func sessionsMatchTheModel(_ seed: UInt64) throws {
        let harness = try ModelHarness(seed: seed)
        try harness.compare()
        for _ in 0..<200 {
            try harness.step()
            try harness.compare()
        }
        try harness.shutDown()
    }
}
