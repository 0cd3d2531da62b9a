// Connects the server's hooks to what the daemon has opened: reload, storage, presets, audit and log.

#if Server
    import Dispatch
    import Tweaks
    import TweaksInterface
    import TweaksServer
    import TweaksStorage
    import TweaksWire

    extension TweakServerHooks {
        /// The hooks of a daemon's server, with all that the daemon has opened.
        init(_ parts: DaemonParts, _ settings: DaemonSettings, _ configuration: TweakDaemon.Configuration) {
            self.init()
            let registry = configuration.registry
            let audit = parts.audit
            stats = { [store = parts.store, reloader = parts.reloader, sources = parts.sources] in
                Self.metrics(store, registry) + AuditTrail.metrics(audit) + Self.metrics(reloader, registry)
                    + (sources?.status ?? []).map { ($0.name, $0.value?.json ?? .null) }
            }
            self.audit = audit
            portRemedy = "set TWEAKS_PORT"
            report = { [log = parts.changes] in log?.post(.warning($0)) }
            onSessionEvent = { [log = parts.changes] event in
                log?.post(.session(event))
                if let audit, let note = AuditNote(event) { audit.note(note) }
            }
            setReload(parts.reloader, settings.reloadsSources ? parts.sources : nil, registry)
            access = configuration.access
            previews = configuration.previews
            readiness = parts.readiness
            if let tokens = parts.tokens { self.tokens = { tokens.table } }
            serverEndpoints = [settings.panel, settings.metrics(registry)].compactMap { $0 }
            if let presets = settings.presets(configuration.limits, parts.store) {
                self.presets = presets
                presetNames = { presets.names() }
            }
        }

        private static func metrics(_ store: OverrideStore?, _ registry: TweakRegistry) -> [(String, JSON)] {
            guard let store else { return [("storage", .string("off"))] }
            let info = store.info
            let pendingCounts = registry.pendingCounts
            return [
                ("storage", .string(info.state)), ("storageFile", .string(info.path)),
                ("overridesStored", .count(info.entries)), ("overridesWaiting", .count(pendingCounts.waiting)),
                ("overridesUnfit", .count(pendingCounts.invalid)),
                ("overridesSetAside", .count(info.entriesQuarantined)),
                ("presets", .string(info.holder.map { "off: the state directory is used by \($0)" } ?? "saved")),
                ("storageWrites", .count(info.writes)),
                ("storageFailures", .count(info.failures)), ("setAside", .text(info.lastQuarantined)),
                ("history", .string(info.history.state)), ("historyLines", .count(info.history.lines)),
            ]
        }

        private static func metrics(_ reloader: ConfigReloader?, _ registry: TweakRegistry) -> [(String, JSON)] {
            guard let reloader else { return [("config", .string("none"))] }
            let record = reloader.record
            let age = record.appliedAt.map { Int64((registry.currentTime - $0) / .seconds(1)) }
            return [
                ("config", .string(reloader.path)), ("configTweaks", .count(record.count)),
                ("configReloads", .count(record.reloads)), ("configFailures", .count(record.failures)),
                ("configSecondsAgo", age.map(JSON.int) ?? .null),
                ("configError", .text(record.failure?.firstLine)),
            ]
        }

        // MARK: Reload

        /// The command reload asks the sources to look for changes, and then reads the config file.
        /// - Parameters:
        ///   - reloader: The config file; nil if there is none.
        ///   - sources: The sources; nil if none is the program's own.
        private mutating func setReload(_ reloader: ConfigReloader?, _ sources: OpenSources?, _ registry: TweakRegistry)
        {
            if let reloader {
                reload = { dry, body in
                    let read: @Sendable () -> Void = {
                        reloader.reload(dry: dry) { body(.reload(reloader.path, $0, dry: dry)) }
                    }
                    if let sources, !dry { Self.ask(sources, then: read) } else { read() }
                }
            } else if let sources {
                reload = { dry, body in
                    if dry { return body(.noDryReload) }
                    Self.ask(sources) { body(.reloadedSources(registry.revision)) }
                }
            }
        }

        /// The program's code runs on a queue of its own, so that it delays neither the server nor the config file.
        private static func ask(_ sources: OpenSources, then body: @escaping @Sendable () -> Void) {
            DispatchQueue(label: "tweaks.sources").async {
                sources.reload()
                body()
            }
        }
    }

    extension DaemonSettings {
        /// The preset folder; nil in a frozen process, which uses no files.
        fileprivate func presets(_ limits: TweakServerLimits, _ store: OverrideStore?) -> PresetFolder? {
            var most = PresetFolder.Limits()
            most.presets = limits.presets
            most.bytes = limits.presetBytes
            guard !isFrozen, let stateDirectory else { return nil }
            return PresetFolder(
                directory: stateDirectory, program: name, limits: most, holder: { [weak store] in store?.info.holder })
        }
    }

    extension Reply {
        fileprivate static var noDryReload: Reply {
            let text = "no config file is named, and the program's own sources have no dry reload; leave out dry"
            return Reply(.error(TweakError(.io, text)))
        }

        /// The sources commit by themselves.
        fileprivate static func reloadedSources(_ revision: UInt64) -> Reply {
            var reply = Reply(.ok(words: "rev \(revision)", fields: [("rev", .count(revision))]))
            reply.durableRevision = revision
            return reply
        }

        /// The changes that the file made, or every error with its line number.
        fileprivate static func reload(
            _ file: String, _ result: Result<LayerDifference, ReloadFailure>, dry: Bool
        ) -> Reply {
            switch result {
            case .success(let difference): difference.reply(file, dry: dry)
            case .failure(let failure): failure.reply
            }
        }
    }

    extension LayerDifference {
        fileprivate func reply(_ file: String, dry: Bool) -> Reply {
            let report = TweakReload(file, self)
            let rows = report.changes.map { Reply.Item.row(lines: [$0.description], json: $0.json) }
            let most = ConfigReloader.listedProblems
            var pending = report.unknown.prefix(most).map {
                Reply.Item.row(lines: ["\($0); \(TweakReload.pendingNote)"], json: .object([("held", .string($0))]))
            }
            if report.unknownCount > pending.count { pending.append(.more(report.unknownCount - pending.count)) }
            var words = "rev \(revision)"
            var fields: [(String, JSON)] = [("rev", .count(revision)), ("tweaks", .count(count))]
            if dry || !didCommit {
                let word = dry ? "dry" : "unchanged"
                words += " \(word)"
                fields.append((word, .bool(true)))
            }
            var reply = Reply(
                .ok(words: words, fields: fields), listName: "changes",
                body: rows.isEmpty && pending.isEmpty ? .none : .items(rows + pending))
            if !dry { reply.durableRevision = revision }
            return reply
        }
    }

    extension TweakReload.Change {
        fileprivate var json: JSON {
            var fields: [(String, JSON)] = [("path", .string(path.joined))]
            if !isSecret { fields += [("was", old.json), ("value", new.json)] }
            if isRemoved { fields.append(("removed", .bool(true))) }
            if let override { fields.append(("override", isSecret ? .null : override.json)) }
            if let droppedOverride { fields.append(("droppedOverride", isSecret ? .null : droppedOverride.json)) }
            return .object(fields)
        }
    }

    extension ReloadFailure {
        fileprivate var reply: Reply {
            let rows = problems.map { problem -> Reply.Item in
                let place = problem.line.map { "line \($0): " } ?? ""
                let json: [(String, JSON)] = [
                    ("line", problem.line.map { .count($0) } ?? .null), ("code", .string(problem.error.code.rawValue)),
                    ("message", .string(problem.error.message)),
                ]
                return .row(lines: ["\(place)\(problem.error)"], json: .object(json))
            }
            let rest = count > problems.count ? [Reply.Item.more(count - problems.count)] : []
            let error = TweakError(code, "\(path): \(count == 1 ? "1 error" : "\(count) errors"); nothing has changed")
            return Reply(.error(error), listName: "problems", body: .items(rows + rest))
        }
    }

    extension Reply.Item {
        /// The number of items that are not listed.
        fileprivate static func more(_ count: Int) -> Reply.Item {
            .row(lines: ["… and \(count) more"], json: .object([("more", .count(count))]))
        }
    }
#endif
