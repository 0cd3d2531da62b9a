// Handles commands that show values: get, ls, modified, export.

import Tweaks
import TweaksWire

extension Executor {
    func get(_ patterns: [String], _ session: Session) throws(TweakError) -> Reply {
        if patterns.count == 1, !session.encoder.isJSON,
            let (node, value, left) = patterns[0].withBytes({ registry.read($0) }),
            session.sees(node)
        {
            let line = TweakLine(node, value, .explained, timeLeft: left)
            return Reply(.ok(words: "", fields: []), body: .items([.tweak(line)]))
        }
        return lines(try resolve(patterns, session), .explained, for: session)
    }

    /// The tweaks that patterns name. Too many patterns would block other sessions.
    func resolve(_ patterns: [String], _ session: Session) throws(TweakError) -> [TweakNode] {
        guard patterns.count <= limits.watchPatterns else {
            throw TweakError(
                .tooMany, "at most \(limits.watchPatterns) patterns at once; use a wider one", limit: .watchPatterns)
        }
        return try view(session).resolve(patterns)
    }

    func modified(_ pattern: String?, _ session: Session) throws(TweakError) -> Reply {
        let nodes = try view(session).resolve(pattern ?? "*")
        let snapshot = registry.snapshot()
        return lines(nodes.filter { snapshot.isModified($0) }, .explained, snapshot, for: session)
    }

    /// Lists assignments of all settable tweaks, in the syntax of config files and of input.
    func export(_ pattern: String?, _ session: Session) throws(TweakError) -> Reply {
        let nodes = try view(session).resolve(pattern ?? "*")
        return lines(
            nodes.filter { $0.isSettable && !$0.definition.flags.contains(.secret) }, .none, for: session)
    }

    func list(_ prefix: String?, _ session: Session) throws(TweakError) -> Reply {
        let view = view(session)
        let parts = prefix?.pathParts.filter { !$0.isEmpty } ?? []
        let groups = view.listing.groups
        switch parts.count {
        case 0: return levels(groups, by: \.category, prefix: "")
        case 1:
            // By bytes, as all paths are compared.
            let within = groups.filter { $0.category.utf8.elementsEqual(parts[0].utf8) }
            if within.isEmpty { throw view.unknown(prefix ?? "") }
            return levels(within, by: \.collection, prefix: parts[0] + "/")
        default: return lines(try view.resolve(parts.joined(separator: "/")), .explained, for: session)
        }
    }

    /// Categories or collections, each with how many tweaks it holds and how many are modified.
    private func levels(
        _ groups: [TweakListing.Group], by name: KeyPath<TweakListing.Group, String>, prefix: String
    ) -> Reply {
        let snapshot = registry.snapshot()
        var rows: [(name: String, count: Int, modified: Int)] = []
        for group in groups {
            let name = group[keyPath: name]
            if rows.last?.name.utf8.elementsEqual(name.utf8) != true { rows.append((name, 0, 0)) }
            rows[rows.count - 1].count += group.nodes.count
            rows[rows.count - 1].modified += group.nodes.count { snapshot.isModified($0) }
        }
        let width = rows.map { Self.token(prefix + $0.name).count }.max() ?? 0
        return .rows(
            "entries",
            rows.map { row in
                let path = Self.token(prefix + row.name)
                let padding = String(repeating: " ", count: width - path.count)
                let modified = row.modified > 0 ? ", \(row.modified) modified" : ""
                let line = "\(path)\(padding)  \(row.count) \(row.count == 1 ? "tweak" : "tweaks")\(modified)"
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
            if showsSource {
                line.source = snapshot.source(of: node)
                line.modified = snapshot.isModified(node)
                line.isInConflict = snapshot.hasUnderlyingChange(node)
            }
            return .tweak(line)
        }
        let body: Reply.Body = nodes.count > 64 ? .stream(item) : .items(nodes.indices.compactMap(item))
        var reply = Reply(.ok(words: "", fields: [("rev", .count(snapshot.revision))]), body: body)
        if case .stream = body { reply.pin = pin(snapshot) }
        return reply
    }
}
