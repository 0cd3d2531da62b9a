// Reads the audit's settings from the program and the environment, notes session events in it, and reports its metrics.

#if Server
    import Tweaks
    import TweaksInterface
    import TweaksServer
    import TweaksStorage
    import TweaksSystem
    import TweaksWire

    extension AuditSettings {
        /// The settings from the program and the environment; nil if the audit is off.
        static func chosen(
            _ named: TweakDaemon.Audit?, program: String = "tweaks", isStrict: Bool, _ environment: [String: String]
        ) throws(ServerError) -> AuditSettings? {
            let days = try days(environment)
            let word = environment.text("TWEAKS_AUDIT")
            if DaemonSettings.isOff(word) { return nil }
            let (file, destinations) = split(word ?? "")
            if let file, isMistyped(file) {
                throw ServerError(
                    "TWEAKS_AUDIT=\(file): its end is neither a path nor a destination; write PATH, PATH,syslog: or "
                        + "PATH,journald:, without spaces")
            }
            if file == nil, named == nil, !destinations.isEmpty {
                throw ServerError(
                    "TWEAKS_AUDIT=\(word ?? ""): the system's log gets a copy of the audit; name its file, too: "
                        + "TWEAKS_AUDIT=/var/log/\(program)/audit.log,\(word ?? "")")
            }
            guard let path = file ?? named?.path, !path.isEmpty else { return nil }
            // The environment moves the file; the limits stay the program's.
            let limits = named ?? TweakDaemon.Audit(path)
            return AuditSettings(
                path: ThisProcess.absolute(path), maximumSize: limits.maximumSize, keep: limits.keep,
                minimumAge: days ?? limits.minimumAge,
                destinations: destinations.isEmpty ? limits.shipsTo.map { AuditDestination($0) } : destinations,
                program: program, isStrict: isStrict)
        }

        /// Splits `PATH,syslog:,journald:`. Only the destinations are separated by commas: a path may have some, too.
        private static func split(_ text: String) -> (path: String?, destinations: [AuditDestination]) {
            var pieces = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
            var destinations: [AuditDestination] = []
            while let last = pieces.last, let destination = AuditDestination(last) {
                destinations.insert(destination, at: 0)
                pieces.removeLast()
            }
            let path = pieces.joined(separator: ",")
            return (path.isEmpty ? nil : path, destinations)
        }

        /// Whether the last piece is meant as a destination: the audit would silently be written to a file of that
        /// name.
        private static func isMistyped(_ path: String) -> Bool {
            let last = path.split(separator: ",", omittingEmptySubsequences: false).last ?? ""
            let words = last.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = (words.first ?? "").lowercased().filter { $0 != " " }
            if name.isEmpty { return !last.hasPrefix("/") }
            return ["syslog", "journald"].contains(name)
                || words.count == 2 && name.allSatisfy { ("a"..."z").contains($0) }
        }

        private static func days(_ environment: [String: String]) throws(ServerError) -> Duration? {
            guard let text = environment.text("TWEAKS_AUDIT_DAYS") else { return nil }
            guard let days = Int64(text), (0...36_500).contains(days) else {
                throw ServerError("TWEAKS_AUDIT_DAYS=\(text): write a whole number of days, 0…36500")
            }
            return .seconds(days * 86_400)
        }
    }

    extension AuditDestination {
        fileprivate init(_ destination: TweakDaemon.Audit.Destination) {
            switch destination {
            case .syslog(let socket): self = .syslog(socket)
            case .journald(let socket): self = .journald(socket)
            }
        }

        /// Parses `syslog:` or `journald:`, with the path of another socket after the colon.
        fileprivate init?(_ text: String) {
            let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2 else { return nil }
            let socket = words[1].isEmpty ? nil : String(words[1])
            switch words[0].lowercased() {
            case "syslog": self.init(socket.map { .syslog(socket: $0) } ?? .syslog())
            case "journald": self.init(socket.map { .journald(socket: $0) } ?? .journald())
            default: return nil
            }
        }
    }

    extension AuditNote {
        /// An audit note for an event; nil for the mere start or end of a session.
        init?(_ event: TweakSessionEvent) {
            guard let (kind, details) = Self.words(event) else { return nil }
            let session = event.session
            self.init(
                by: session.identity.description, identity: session.identity.identity, from: session.transport.rawValue,
                peer: session.peer, session: session.id, kind: kind, isRefusal: event.isRefusal,
                hasRights: !session.scopes.isEmpty, details)
        }

        private static func words(_ event: TweakSessionEvent) -> (String, [(key: String, value: Detail)])? {
            switch event.kind {
            case .state:
                switch event.session.state {
                // A user who may not connect, and a session rejected by a limit.
                case .failed(.denied): return ("denied", [])
                case .failed(.limit): return ("turned away", [])
                default: return nil
                }
            case .authenticated(let name): return ("authenticated", [("token", .text(name))])
            case .authenticationFailed: return ("authentication failed", [])
            case .denied(let command, let path): return ("denied", [("command", .text(command))] + self.path(path))
            case .refused(let error):
                return (
                    "refused",
                    path(error.path) + [("code", .text(error.code.rawValue)), ("reason", .text(error.message))]
                )
            case .requested(let scopes): return ("requested", self.scopes(scopes))
            case .granted(let scopes): return ("granted", self.scopes(scopes))
            case .declined(let scopes): return ("declined", self.scopes(scopes))
            case .dropped(let scopes): return ("dropped", self.scopes(scopes))
            case .revoked: return ("revoked", [("scopes", .texts(event.session.scopes))])
            case .kicked(let session): return ("kicked", [("of", .number(session))])
            }
        }

        private static func path(_ path: TweakPath?) -> [(key: String, value: Detail)] {
            path.map { [("path", .text($0.joined))] } ?? []
        }

        private static func scopes(_ scopes: [TweakScope]) -> [(key: String, value: Detail)] {
            [("scopes", .texts(scopes.map(\.description)))]
        }
    }

    extension TweakSessionEvent {
        /// Whether the request was refused. Any client can cause these.
        fileprivate var isRefusal: Bool {
            switch kind {
            case .state, .authenticationFailed, .denied, .refused, .requested, .declined: true
            case .authenticated, .granted, .dropped, .revoked, .kicked: false
            }
        }
    }

    extension AuditTrail {
        /// Metrics for `stats`.
        static func metrics(_ trail: AuditTrail?) -> [(String, JSON)] {
            guard let info = trail?.info else { return [("audit", .string("off"))] }
            return [
                ("audit", .string(info.state)), ("auditFile", .string(info.path)),
                ("auditRefusedFile", .string(info.refusedPath)), ("auditHead", .text(info.head)),
                ("auditRefusedHead", .text(info.refusedHead)), ("auditCommits", .count(info.commits)),
                ("auditEvents", .count(info.events)), ("auditWaiting", .count(info.waiting)),
                ("auditFolded", .count(info.folded)), ("auditLeftOut", .count(info.leftOut)),
                ("auditDroppedBytes", .int(info.dropped)), ("auditFailures", .count(info.failures)),
            ] + (info.shipped.map { [("auditShipped", .count($0)), ("auditNotShipped", .count(info.shipLost))] } ?? [])
        }
    }
#endif
