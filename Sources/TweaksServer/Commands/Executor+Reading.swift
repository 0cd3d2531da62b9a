// Handles commands that show tweaks: get, ls, modified, export, describe, explain.

import Tweaks
import TweaksInterface
import TweaksWire

extension Executor {
    func get(_ patterns: [String], _ session: Session) throws(TweakError) -> Outcome {
        if patterns.count == 1, !session.encoder.isJSON,
            let (node, value, left) = patterns[0].withBytes({ registry.read($0) }),
            session.sees(node)
        {
            let line = TweakLine(node, value, .explained, timeLeft: left)
            return .reply(Reply(.ok(words: "", fields: []), body: .items([.tweak(line)])))
        }
        return try sweep(patterns, session) { .reply($0.lines($2, .explained, for: $1)) }
    }

    func modified(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        let snapshot = registry.snapshot()
        let isListed = request.keywords.contains(.stale) ? snapshot.isStale : snapshot.isModified
        return try sweep([request[0] ?? "*"], session, where: isListed) {
            .reply($0.lines($2, .explained, snapshot, for: $1))
        }
    }

    /// Lists assignments of all settable tweaks, or of the modified ones, in the syntax of config files and of input.
    func export(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        let isPartial = request.keywords.contains(.onlyModified)
        // What is set, and not what a preview shows.
        let snapshot = registry.snapshot().settled
        return try sweep([request[0] ?? "*"], session) {
            $0.isSettable && !$0.isSecret && (!isPartial || snapshot.isModified($0))
        } _: {
            .reply($0.lines($2, .none, snapshot, for: $1))
        }
    }

    func list(_ prefix: String?, _ session: Session) throws(TweakError) -> Outcome {
        let view = view(session)
        let parts = prefix?.pathParts.filter { !$0.isEmpty } ?? []
        let groups = view.listing.groups
        switch parts.count {
        case 0: return try levels(groups, by: \.category, prefix: "", session)
        case 1:
            // By bytes, as all paths are compared.
            let within = groups.filter { $0.category.utf8.elementsEqual(parts[0].utf8) }
            if within.isEmpty { throw view.unknown(prefix ?? "") }
            return try levels(within, by: \.collection, prefix: parts[0] + "/", session)
        default:
            return try sweep([parts.joined(separator: "/")], session) { .reply($0.lines($2, .explained, for: $1)) }
        }
    }

    /// Categories or collections, each with how many tweaks it holds and how many are modified.
    private func levels(
        _ groups: [TweakListing.Group], by name: KeyPath<TweakListing.Group, String>, prefix: String, _ session: Session
    ) throws(TweakError) -> Outcome {
        let snapshot = registry.snapshot()
        var rows: [Level] = []
        for group in groups {
            let name = group[keyPath: name]
            if rows.last?.name.utf8.elementsEqual(name.utf8) != true { rows.append(Level(name: name)) }
            rows[rows.count - 1].count += group.nodes.count
        }
        // The tweaks come row by row.
        var row = 0
        var visited = 0
        return try sweep(.nodes(groups.flatMap(\.nodes)), session) { node in
            if visited == rows[row].count {
                row += 1
                visited = 0
            }
            visited += 1
            if snapshot.isModified(node) { rows[row].modified += 1 }
            return false
        } _: { _, _, _ in
            .reply(Self.reply(rows, prefix: prefix))
        }
    }

    private struct Level {
        let name: String
        var count = 0
        var modified = 0
    }

    private static func reply(_ rows: [Level], prefix: String) -> Reply {
        let width = rows.map { Self.token(prefix + $0.name).count }.max() ?? 0
        return .rows(
            "entries",
            rows.map { row in
                let path = Self.token(prefix + row.name).padded(to: width)
                let modified = row.modified > 0 ? ", \(row.modified) modified" : ""
                let line = "\(path)  \(row.count) \(row.count == 1 ? "tweak" : "tweaks")\(modified)"
                let json: [(String, JSON)] = [
                    ("name", .string(row.name)), ("prefix", .string(prefix + row.name)), ("tweaks", .count(row.count)),
                    ("modified", .count(row.modified)),
                ]
                return ([line], .object(json))
            })
    }

    private static func token(_ prefix: String) -> String {
        Quoting.needsQuotes(prefix) ? Quoting.json(prefix) : prefix
    }

    /// Shows tweaks as body lines, from one consistent snapshot; a long list is generated while it is sent.
    func lines(
        _ nodes: [TweakNode], _ note: TweakLine.Note, _ snapshot: TweakSnapshot? = nil, for session: Session
    ) -> Reply {
        let snapshot = snapshot ?? registry.snapshot()
        // Text mode has explain for it.
        let showsSource = session.encoder.isJSON
        let item: @Sendable (Int) -> Reply.Item? = { [registry] position in
            guard position < nodes.count else { return nil }
            let node = nodes[position]
            var left: Duration?
            if case .explained = note { left = snapshot.expires(node).map { registry.timeLeft($0) } }
            var line = TweakLine(node, snapshot.value(of: node), note, timeLeft: left)
            if let origin = snapshot.preview(of: node) {
                line.modified = snapshot.isModified(node)
                line.source = TweakLine.Source(snapshot.source(of: node), covering: snapshot.settled(node), by: origin)
            } else if showsSource {
                line.source = snapshot.source(of: node).map { TweakLine.Source($0.layer, $0.origin) }
            }
            if showsSource {
                line.modified = snapshot.isModified(node)
                line.isInConflict = snapshot.hasUnderlyingChange(node)
                line.isStale = snapshot.isStale(node)
            }
            return .tweak(line)
        }
        let body: Reply.Body = nodes.count > 64 ? .stream(item) : .items(nodes.indices.compactMap(item))
        var reply = Reply(.ok(words: "", fields: [("rev", .count(snapshot.revision))]), body: body)
        if case .stream = body { reply.pin = pin(snapshot) }
        // A part of the listing is a list of its own.
        if nodes.count < registry.count { reply.streamBytes = 8 * nodes.count }
        return reply
    }

    func describe(_ path: String, _ session: Session) throws(TweakError) -> Reply {
        let tweak = try lookUp(path, session)
        let node = tweak.node
        var fields: [(String, JSON)] = [
            ("path", .string(node.path.joined)), ("kind", .string(node.definition.kind.rawValue)),
        ]
        if let value = tweak.value { fields += node.shown(value).fields }
        let snapshot = registry.snapshot()
        if snapshot.preview(of: node) != nil, let value = snapshot.settled(node) {
            fields.append(("settled", value.json))
        }
        fields += node.info(isModified: snapshot.isModified(node))
        fields.append(("source", .string(node.source.description)))
        let parameters = node.signature?.parameters.map(\.summary) ?? []
        return .info(fields, texts: parameters.isEmpty ? [:] : ["arguments": parameters])
    }

    func conflicts() -> Reply {
        .rows(
            "conflicts",
            registry.conflicts.map { conflict in
                let json: [(String, JSON)] = [
                    ("path", .string(conflict.path.joined)), ("first", .string(conflict.first.description)),
                    ("second", .string(conflict.second.description)), ("differences", .string(conflict.differences)),
                ]
                return ([conflict.description], .object(json))
            })
    }

    // MARK: - explain

    typealias Row = (lines: [String], json: JSON)

    func explain(_ path: String, _ session: Session) throws(TweakError) -> Reply {
        let view = view(session)
        if view[path] == nil, let rows = pendingRows(path, view) { return .rows("layers", rows) }
        let tweak = try lookUp(path, session)
        let layers = tweak.layers
        let rows = layers.enumerated().map { position, layer in
            row(layer, of: tweak, wins: position == layers.count - 1)
        }
        return .rows("layers", rows + remarks(tweak.node, layers))
    }

    private func row(_ layer: TweakLayerValue, of tweak: AnyTweak, wins: Bool) -> Row {
        // A figure's value was published by the program; it is not an override.
        let isPublished = tweak.flags.contains(.readOnly) && layer.layer != .default
        let name = isPublished ? "published" : layer.layer.description
        let time = wallClock(layer.moment)
        let left = layer.end.map { registry.timeLeft($0) }
        let value = tweak.node.shown(layer.value)
        let json: [(String, JSON)] = [
            ("layer", .string(name)), ("overridden", .bool(layer.layer.isOverride && !isPublished)),
            ("value", value.json),
            ("by", .string(layer.origin.description)), ("time", .string(time)), ("current", .bool(wins)),
        ]
        let end = left.map { ", \(TimeLeft.text($0)) left" } ?? ""
        let line = "\(wins ? "→" : " ") \(name.padded(to: 18)) \(value.text)  by \(layer.origin) at \(time)\(end)"
        return ([line], .object(json + (left.map(TimeLeft.fields) ?? [])))
    }

    // MARK: Values not in effect

    private func remarks(_ node: TweakNode, _ layers: [TweakLayerValue]) -> [Row] {
        let invalid = registry.quarantined(node).map { quarantined in
            remark(
                "the \(quarantined.layer) of \(quarantined.entry.origin) is not in effect: "
                    + quarantined.reason.message, quarantined.layer, quarantined.entry)
        }
        guard let (old, new) = registry.underlyingValueChange(node) else { return invalid }
        let underlying = layers.last { $0.layer < .override }?.layer ?? .default
        let (subject, source) = Self.names(of: underlying)
        let change = node.isSecret ? "changed" : "changed \(old.text) → \(new.text)"
        let remedy = "reset \(node.path.token) to take the \(source)"
        let text = "\(subject) \(change) since; the override stays, \(remedy)"
        let json = JSON.object([("remark", .string(text)), ("layer", .string(underlying.description))])
        return invalid + [(["  \(text)"], json)]
    }

    /// The names of a layer below the overrides and of its value.
    private static func names(of layer: TweakLayer) -> (subject: String, value: String) {
        switch layer {
        case .configFile: ("file", "file's")
        case .default: ("the next layer", "default")
        default: (layer.name, "\(layer.name)'s")
        }
    }

    private func pendingRows(_ text: String, _ view: TweakView) -> [Row]? {
        guard let path = try? TweakPath(text), view.canSee(path) else { return nil }
        let rows = registry.pendingEntries(path).map { layer, entry in
            remark(
                "no tweak has this path; the \(layer) of \(entry.origin) is \(TweakReload.pendingNote)", layer, entry)
        }
        return rows.isEmpty ? nil : rows
    }

    // Omits the value: without a definition it is unknown whether it is a secret and what it means.
    private func remark(_ text: String, _ layer: TweakLayer, _ entry: StoredEntry) -> Row {
        let time = wallClock(entry.time)
        let json: [(String, JSON)] = [
            ("layer", .string(layer.description)), ("by", .string(entry.origin.description)),
            ("time", .string(time)), ("current", .bool(false)), ("remark", .string(text)),
        ]
        return (["  \(text) (\(time))"], .object(json))
    }

    /// Converts the time of a layer, which a monotonic clock gives, to a wall clock time.
    private func wallClock(_ time: Moment) -> String {
        TimeText.seconds(hooks.wallClock(at: time))
    }
}
