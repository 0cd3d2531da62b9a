// Handles commands about the server and the session: help, hello, stats, json, prompt.

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

    /// Sends the banner of an interactive session.
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
                let padding = String(repeating: " ", count: width - command.synopsis.count)
                let line = "\(command.synopsis)\(padding)  \(command.summary)"
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
        if json { session.encoder.isJSON = true }
        let revision: [(String, JSON)] =
            session.isAdmitted ? [("rev", .count(registry.revision))] : [("auth", .string("required"))]
        return .info(
            [
                ("name", .string(identity.name)), ("pid", .count(identity.processID)),
                ("instance", .string(identity.instance)), ("protocol", .int(1)),
            ] + revision + [
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
                        ["json", "watch", "since", "batch", "check", "complete", "actions", "temporary", "as", "mine"]
                            .map(
                                JSON.string))
                ),
            ])
    }

    func stats(_ session: Session) throws(TweakError) -> Outcome {
        let (snapshot, nodes) = (registry.snapshot(), view(session).listing.nodes)
        var (modified, temporary) = (0, 0)
        return try sweep(.nodes(nodes), session) { node in
            if snapshot.isModified(node) { modified += 1 }
            if snapshot.expires(node) != nil { temporary += 1 }
            return false
        } _: { executor, session, _ in
            let isWhole = session.grants.rights.isWhole(.read)
            return .reply(
                .info(
                    isWhole
                        ? executor.wholeStats(snapshot, modified: modified)
                        : executor.partialStats(snapshot, nodes.count, modified: modified, temporary: temporary)))
        }
    }

    /// The statistics for sessions that do not see every tweak: they count what the session sees.
    private func partialStats(
        _ snapshot: TweakSnapshot, _ count: Int, modified: Int, temporary: Int
    ) -> [(String, JSON)] {
        let uptime = Int64((hooks.now - identity.startedAt) / .seconds(1))
        return [
            ("name", .string(identity.name)), ("pid", .count(identity.processID)), ("uptimeSeconds", .int(uptime)),
            ("rev", .count(snapshot.revision)), ("tweaks", .count(count)),
            ("modified", .count(modified)), ("temporary", .count(temporary)),
        ]
    }

    private func wholeStats(_ snapshot: TweakSnapshot, modified: Int) -> [(String, JSON)] {
        var delivery = (registry.observerExecutor as? ObserverThreads)?.report ?? .init()
        let actors = registry.actorDeliveries.report
        delivery.observers += actors.count
        delivery.lag = max(delivery.lag, actors.lag)
        let uptime = Int64((hooks.now - identity.startedAt) / .seconds(1))
        let rate = commitRate.rate(snapshot.revision, at: hooks.now)
        return [
            ("name", .string(identity.name)), ("pid", .count(identity.processID)), ("uptimeSeconds", .int(uptime)),
            ("rev", .count(snapshot.revision)), ("commitsPerSecond", .number((rate.perSecond * 100).rounded() / 100)),
            ("commitsPerSecondOver", .int(Int64(rate.over / .seconds(1)))), ("tweaks", .count(registry.count)),
            ("modified", .count(modified)),
            ("temporary", .count(registry.temporaryCount)), ("conflicts", .count(registry.conflicts.count)),
            ("frozen", .bool(registry.isFrozen)),
            ("sessions", .count(metrics.sessions)), ("watchers", .count(hub.sessions.count)),
            ("connections", .count(metrics.accepted)), ("requests", .count(metrics.requests)),
            ("errors", .count(metrics.refused)), ("undeliveredObservers", .count(delivery.observers)),
            ("deliveryLagMilliseconds", .int(delivery.lag.wholeMilliseconds)),
            ("runningObservers", .array(delivery.running.map(Self.json))),
            ("observerThreads", .count(ObserverThreads.limit)),
            ("listeners", .object(listenerInfo)),
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
        let used = memory.sessions + memory.kernel + memory.unread + memory.pinned.bytes + stateBytes
        return [
            ("limits", .object(inForce)), ("heldBytes", .count(used)), ("limitsHit", .object(limitsHit())),
        ]
    }

    /// The limits that were hit, by name, with counts.
    private func limitsHit() -> [(String, JSON)] {
        var hits = metrics.limitsHit
        let forgotten = registry.forgottenCommits
        if forgotten > 0 { hits[.history] = forgotten }
        return hits.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, .count($0.value)) }
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
}
