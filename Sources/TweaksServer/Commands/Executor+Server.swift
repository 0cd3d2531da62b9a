// Handles commands about the server and its sessions: help, hello, stats, sessions, whoami, json, prompt.

import Tweaks
import TweaksWire

extension Executor {
    func json(_ keywords: [Keyword], _ session: Session) -> Reply {
        session.encoder.isJSON = !keywords.contains(.off)
        session.encoder.hasText = keywords.contains(.text)
        return .ok()
    }

    func prompt(_ isOn: Bool, _ session: Session) -> Reply {
        let wasInteractive = session.isInteractive
        session.isInteractive = isOn
        if isOn, !wasInteractive { greet(session) }
        return .ok()
    }

    func greet(_ session: Session) {
        if session.encoder.isJSON { return }
        let count = view(session).count
        let news = session.isAdmitted ? "\(count) \(count == 1 ? "tweak" : "tweaks"); type help" : "auth TOKEN first"
        session.output.append { bytes in
            bytes.append(
                "  \(identity.name), pid \(identity.processID), \(news)")
            session.encoder.endLine(&bytes)
        }
    }

    // MARK: help

    func help(_ name: String?, _ session: Session) -> Reply {
        guard let name else {
            return overview(commands(for: session), hasHeadings: session.isInteractive)
        }
        guard let command = Command.named(name) else {
            let near = Spelling.nearest(to: name, among: Command.all.map(\.name))
            let guess = near.map { "did you mean \($0)?" } ?? "help lists them"
            return .error(TweakError(.unknownCommand, "\(Quoting.excerpt(name)) is not a command; \(guess)"))
        }
        let json = Self.json(command)
        let lines = [command.synopsis, "  \(command.summary)", "  example: \(command.example)"]
        return .rows("commands", [(lines, json)])
    }

    /// Lists one command per line, with headings for interactive sessions.
    private func overview(_ offered: [Command], hasHeadings: Bool) -> Reply {
        let names = Set(offered.map(\.name)), width = offered.map(\.synopsis.count).max() ?? 0
        let rows = Command.groups.flatMap { group in
            let commands = group.commands.filter { names.contains($0.name) }
            return commands.enumerated().map { position, command in
                let line = "\(command.synopsis.padded(to: width))  \(command.summary)"
                guard hasHeadings else { return ([line], Self.json(command)) }
                return ((position == 0 ? [group.title] : []) + ["  \(line)"], Self.json(command))
            }
        }
        return .rows("commands", rows)
    }

    private static func json(_ command: Command) -> JSON {
        .object([
            ("name", .string(command.name)), ("usage", .string(command.synopsis)),
            ("summary", .string(command.summary)), ("example", .string(command.example)),
        ])
    }

    // MARK: hello and stats

    /// Answers with the highest protocol version that both sides know; only version 1 exists.
    func hello(_ json: Bool, _ session: Session) -> Reply {
        if json {
            session.encoder.isJSON = true
            session.encoder.hasText = false
        }
        let revision: [(String, JSON)] =
            session.isAdmitted ? [("rev", .count(registry.revision))] : [("auth", .string("required"))]
        return .info(
            [
                ("name", .string(identity.name)), ("pid", .count(identity.processID)),
                ("instance", .string(identity.instance)), ("protocol", .int(1)),
            ] + revision + (hooks.previews ? [("stream", .count(session.id.number))] : []) + [
                (
                    "limits",
                    .object([
                        ("line", .count(limits.lineBytes)), ("batch", .count(limits.batchChanges)),
                        ("watches", .count(limits.watchPatterns)), ("sessions", .count(limits.sessions)),
                    ])
                ),
                (
                    "features",
                    .array(
                        ([
                            "json", "watch", "since", "batch", "check", "complete", "actions", "temporary", "as",
                            "mine",
                        ] + (hooks.previews ? ["preview"] : [])).map(JSON.string))
                ),
            ])
    }

    func stats(_ session: Session) throws(TweakError) -> Outcome {
        let snapshot = registry.snapshot()
        let nodes = view(session).listing.nodes
        var modified = 0
        var temporary = 0
        return try sweep(.nodes(nodes), session) { node in
            if snapshot.isModified(node) { modified += 1 }
            if snapshot.expires(node) != nil { temporary += 1 }
            return false
        } _: { executor, session, _ in
            let uptime = Int64((executor.hooks.now - executor.identity.startedAt) / .seconds(1))
            var fields: [(String, JSON)] = [
                ("name", .string(executor.identity.name)), ("pid", .count(executor.identity.processID)),
                ("uptimeSeconds", .int(uptime)), ("rev", .count(snapshot.revision)),
            ]
            if session.grants.rights.isWhole(.read) {
                fields += executor.wholeStats(snapshot, modified: modified)
            } else {
                // What the session sees.
                fields += [
                    ("tweaks", .count(nodes.count)), ("modified", .count(modified)), ("temporary", .count(temporary)),
                ]
            }
            return .reply(.info(fields))
        }
    }

    private func wholeStats(_ snapshot: TweakSnapshot, modified: Int) -> [(String, JSON)] {
        var delivery = (registry.observerExecutor as? ObserverThreads)?.report ?? .init()
        let actors = registry.actorDeliveries.report
        delivery.observers += actors.count
        delivery.lag = max(delivery.lag, actors.lag)
        let rate = commitRate.rate(snapshot.revision, at: hooks.now)
        return [
            ("commitsPerSecond", .number((rate.perSecond * 100).rounded() / 100)),
            ("commitsPerSecondOver", .int(Int64(rate.over / .seconds(1)))), ("tweaks", .count(registry.count)),
            ("modified", .count(modified)), ("temporary", .count(registry.temporaryCount)),
            ("conflicts", .count(registry.conflicts.count)), ("frozen", .bool(registry.isFrozen)),
            ("sessions", .count(metrics.sessions)), ("watchers", .count(hub.sessions.count)),
            ("connections", .count(metrics.accepted)), ("requests", .count(metrics.requests)),
            ("errors", .count(metrics.refused)), ("undeliveredObservers", .count(delivery.observers)),
            ("deliveryLagMilliseconds", .int(delivery.lag.wholeMilliseconds)),
            ("runningObservers", .array(delivery.running.map(Self.json))),
            ("observerThreads", .count(ObserverThreads.limit)), ("listeners", .object(listenerInfo)),
            ("tokens", hooks.tokens == nil ? .string("off") : .count(tokens?.entries.count { !$0.isOwn } ?? 0)),
        ] + budgets() + hooks.stats()
    }

    /// A running observer: the tweak that it is notified about, where that is declared, and for how long it has run.
    private static func json(_ node: TweakNode, _ time: Duration) -> JSON {
        .object([
            ("path", .string("\(node.path)")), ("declared", .string("\(node.source)")),
            ("milliseconds", .int(time.wholeMilliseconds)),
        ])
    }

    /// The effective limits that an operator needs, the memory in use, and the limits that were hit.
    private func budgets() -> [(String, JSON)] {
        let inForce: [(String, JSON)] = [
            ("sessions", .count(limits.sessions)), ("sessionsPerPeer", .count(limits.sessionsPerPeer)),
            ("memoryBytes", .count(limits.memoryBytes)),
        ]
        var hits = metrics.limitsHit
        let forgotten = registry.forgottenCommits
        if forgotten > 0 { hits[.history] = forgotten }
        let hit: [(String, JSON)] = hits.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            ($0.key.rawValue, .count($0.value))
        }
        return [("limits", .object(inForce)), ("heldBytes", .count(heldBytes)), ("limitsHit", .object(hit))]
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
}

extension Executor {
    // MARK: whoami

    func whoami(_ session: Session) -> Reply {
        let scopeRequests = session.credentials.scopeRequests
        let waiting = scopeRequests.waiting.flatMap(\.scopes)
        return .info(
            session.fields(session.origin) + [
                ("tokens", .array(session.credentials.tokens.map(Self.json))), ("granted", scopeRequests.granted.json),
                ("declined", scopeRequests.declined.json), ("waiting", waiting.json),
                ("ageSeconds", .int(age(of: session))), ("watches", .count(session.watches.count)),
                ("commits", .count(session.changes.commits)),
            ] + session.personFields)
    }

    private static func json(_ token: TokenEntry) -> JSON {
        .object([("name", .string(token.name)), ("expires", .text(token.expires.map(TimeText.seconds)))])
    }

    func age(of session: Session) -> Int64 { Int64((hooks.now - session.connection.openedAt) / .seconds(1)) }

    // MARK: sessions

    /// Lists all sessions that have not ended, oldest first; a window's connections count as one.
    func list(_ sessions: [Session], for own: Session) -> Reply {
        let living = sessions.filter { $0.credentials.lifecycle.state.reason == nil }
            .sorted { $0.id.number < $1.id.number }
        let entries = Dictionary(grouping: living, by: \.number).sorted { $0.key < $1.key }
        return .rows("sessions", entries.map { ([line($0.value, own)], json($0.value, own)) })
    }

    /// - Parameter connections: At least one, oldest first.
    private func line(_ connections: [Session], _ own: Session) -> String {
        let session = connections[0]
        let parts = [
            session.shownOrigin.description, session.identity.peer.text, session.identity.peer.transport.rawValue,
            session.credentials.lifecycle.state.word,
            "may \(session.grants.rights.text)", "watches \(connections.sum(\.watches.count))",
            "commits \(commits(connections))", "unsent \(connections.sum { $0.output.count })",
            TweakValue.duration(.seconds(age(of: session))).text + " old",
        ]
        return "\(session.number == own.number ? "→" : " ") \(session.number)  \(parts.joined(separator: ", "))"
    }

    private func json(_ connections: [Session], _ own: Session) -> JSON {
        let session = connections[0]
        return .object(
            session.fields(session.shownOrigin) + [
                ("watches", .count(connections.sum(\.watches.count))),
                ("commits", .count(commits(connections))), ("unsentBytes", .count(connections.sum { $0.output.count })),
                ("ageSeconds", .int(age(of: session))), ("own", .bool(session.number == own.number)),
            ] + (session.shownOrigin.name.map { [("person", .string($0))] } ?? []))
    }

    private func commits(_ connections: [Session]) -> UInt64 {
        connections.reduce(connections[0].identity.window?.earlierCommits ?? 0) { $0 + $1.changes.commits }
    }
}

extension Session {
    /// The origin to display: that of its window, if it has one.
    fileprivate var shownOrigin: TweakOrigin { identity.window?.origin ?? origin }

    /// The fields of a session in every reply that shows one.
    fileprivate func fields(_ origin: TweakOrigin) -> [(String, JSON)] {
        [
            ("session", .count(number)), ("identity", .string(origin.description)),
            ("state", .string(credentials.lifecycle.state.word)),
            ("transport", .string(identity.peer.transport.rawValue)), ("peer", .string(identity.peer.text)),
            ("scopes", grants.rights.json),
        ]
    }
}

extension [Session] {
    fileprivate func sum(_ count: (Session) -> Int) -> Int { reduce(0) { $0 + count($1) } }
}

/// Samples of the revision, taken when the I/O thread is awake anyway: an idle process is not woken to measure.
struct CommitRate {
    private var samples: [(time: Moment, revision: UInt64)]
    private let interval: Duration = .seconds(5)
    private let window: Duration = .seconds(60)

    init(_ revision: UInt64, at now: Moment) { (samples, dueAt) = ([(now, revision)], now + interval) }

    private(set) var dueAt: Moment

    /// Whether a sample is due.
    func isDue(_ now: Moment) -> Bool { dueAt <= now }

    mutating func note(_ revision: UInt64, at now: Moment) {
        samples.append((now, revision))
        dueAt = now + interval
        // The newest sample outside the window stays, since the window begins there.
        while samples.count > 2, samples[1].time + window <= now { samples.removeFirst() }
    }

    /// The commits per second and the time measured: about the last minute, or more if nothing woke the I/O thread.
    func rate(_ revision: UInt64, at now: Moment) -> (perSecond: Double, over: Duration) {
        let start = samples.last { $0.time + window <= now } ?? samples[0]
        let time = now - start.time
        if time <= .zero { return (0, .zero) }
        return (Double(revision &- min(start.revision, revision)) / (time / .seconds(1)), time)
    }
}
