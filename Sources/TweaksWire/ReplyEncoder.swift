// Encodes replies and events as text lines or as one JSON object a line.

package import Tweaks

/// Encodes replies with the options of one session.
package struct ReplyEncoder: Sendable {
    /// Whether to encode JSON, one object a line, instead of text.
    package var isJSON = false
    /// Whether lines end with CR LF, as the client's do.
    package var usesCRLF = false
    /// Whether to omit the status of a success, so that the output is a file of its items.
    package var isForFile = false

    package init() {}

    /// After about this many bytes encoding pauses, so that other sessions get their turn.
    package static let slice = 16_384

    /// Encodes a reply, or the beginning of a long one.
    /// - Returns: The remainder; nil when the reply is complete.
    package func append(_ reply: Reply, to bytes: inout [UInt8]) -> Remainder? {
        if isJSON { appendJSONHead(reply, to: &bytes) }
        switch reply.body {
        case .none: break
        // In JSON the fields carry it.
        case _ where isJSON && reply.listName.isEmpty: break
        case .items(let items):
            let column =
                isJSON || items.count < 2 ? TweakLine.column : TweakLine.column(of: items.lazy.compactMap(\.line))
            let limit = bytes.count + Self.slice
            for (position, item) in items.enumerated() {
                if bytes.count >= limit { return Remainder(reply, self, position: position, column: column) }
                append(item, isFirst: position == 0, reply.listName, column: column, to: &bytes)
            }
        case .stream: return Remainder(reply, self, position: 0, column: TweakLine.column)
        }
        appendEnd(reply, hasList: reply.body.isList, to: &bytes)
        return nil
    }

    /// The part of a long reply that is still to be written.
    package struct Remainder: Sendable {
        fileprivate let reply: Reply
        /// The encoder of its beginning: later requests may have changed the options of the session.
        fileprivate let encoder: ReplyEncoder
        fileprivate var position: Int
        fileprivate let column: Int

        fileprivate init(_ reply: Reply, _ encoder: ReplyEncoder, position: Int, column: Int) {
            (self.reply, self.encoder, self.position, self.column) = (reply, encoder, position, column)
        }

        /// The memory that it shares with other replies.
        package var pin: PinnedBytes? { reply.pin }
    }

    /// Continues a long reply until it ends or the output has grown by about `budget` bytes; items are not divided.
    /// - Returns: The new remainder; nil when the reply is complete.
    package func append(_ remainder: Remainder, budget: Int, to bytes: inout [UInt8]) -> Remainder? {
        var remainder = remainder
        let (limit, encoder) = (bytes.count + budget, remainder.encoder)
        while let item = remainder.reply.body.item(remainder.position) {
            encoder.append(
                item, isFirst: remainder.position == 0, remainder.reply.listName, column: remainder.column, to: &bytes)
            remainder.position += 1
            if bytes.count >= limit { return remainder }
        }
        encoder.appendEnd(remainder.reply, hasList: true, to: &bytes)
        return nil
    }

    /// Ends a long reply early, with an error in place of its status. The JSON has begun with `"ok":true` already; its
    /// field `error` takes precedence.
    package func abort(_ remainder: Remainder, _ error: TweakError, to bytes: inout [UInt8]) {
        let encoder = remainder.encoder
        if encoder.isJSON {
            if !remainder.reply.listName.isEmpty { bytes.append("]") }
            bytes.append(",")
            [("error", Self.json(error))].append(to: &bytes)
            bytes.append("}")
        } else {
            encoder.appendText(error, to: &bytes)
        }
        encoder.endLine(&bytes)
    }

    /// Encodes the reply to the most frequent requests, one tweak and `ok`, without creating a `Reply`.
    package func appendText(_ line: TweakLine?, revision: UInt64?, unchanged: Bool, to bytes: inout [UInt8]) {
        if let line {
            line.append(to: &bytes)
            endLine(&bytes)
        }
        if let revision {
            bytes.append(word: "ok rev ")
            bytes.append(decimal: revision)
        } else {
            bytes.append(word: "ok")
        }
        if unchanged { bytes.append(word: " unchanged") }
        endLine(&bytes)
    }

    // MARK: Items

    private func append(
        _ item: Reply.Item, isFirst: Bool, _ listName: String, column: Int, to bytes: inout [UInt8]
    ) {
        if isJSON {
            if listName.isEmpty { return }
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            switch item {
            case .tweak(let line): line.json.append(to: &bytes)
            case .row(_, let json): json.append(to: &bytes)
            }
            return
        }
        switch item {
        case .tweak(let line):
            line.append(to: &bytes, column: column)
            endLine(&bytes)
        case .row(let lines, _): append(lines, to: &bytes)
        }
    }

    private func append(_ lines: [String], to bytes: inout [UInt8]) {
        for line in lines {
            bytes.append("  ")
            bytes.append(Quoting.sanitized(line))
            endLine(&bytes)
        }
    }

    // MARK: Status

    private func appendJSONHead(_ reply: Reply, to bytes: inout [UInt8]) {
        switch reply.status {
        case .ok(_, let fields):
            bytes.append("{\"ok\":true")
            if !fields.isEmpty { bytes.append(",") }
            fields.append(to: &bytes)
        case .error(let error):
            bytes.append("{\"ok\":false,\"error\":")
            Self.json(error).append(to: &bytes)
        }
        if reply.body.isList, !reply.listName.isEmpty { bytes.append(",\(Quoting.json(reply.listName)):[") }
    }

    private func appendEnd(_ reply: Reply, hasList: Bool, to bytes: inout [UInt8]) {
        if isJSON {
            if hasList, !reply.listName.isEmpty { bytes.append("]") }
            bytes.append("}")
        } else {
            if isForFile, case .ok = reply.status { return }
            append(reply.remarks, to: &bytes)
            switch reply.status {
            case .ok(let words, _):
                bytes.append(words.isEmpty ? "ok" : "ok ")
                bytes.append(Quoting.sanitized(words))
            case .error(let error): appendText(error, to: &bytes)
            }
        }
        endLine(&bytes)
    }

    private static func json(_ error: TweakError) -> JSON {
        let path = error.path.map { [("path", JSON.string($0.joined))] } ?? []
        return .object([("code", .string(error.code.rawValue)), ("message", .string(error.message))] + path)
    }

    private func appendText(_ error: TweakError, to bytes: inout [UInt8]) {
        bytes.append("error \(error.code.rawValue) ")
        bytes.append(Quoting.sanitized(error.message))
    }

    // MARK: Events

    /// Encodes one event.
    package func append(_ event: Event, to bytes: inout [UInt8]) {
        switch event {
        case .change(let change, let layer):
            if isJSON { appendJSON(change, layer, to: &bytes) } else { appendText(change, to: &bytes) }
        case .lagged(let revision, let count):
            if isJSON {
                JSON.object([
                    ("event", .string("lagged")), ("rev", .count(revision)), ("count", .count(count)),
                ]).append(to: &bytes)
            } else {
                bytes.append("event \(revision) lagged \(count)")
            }
        case .decided(let revision, let isGranted, let scopes):
            let word = isGranted ? "granted" : "declined"
            if isJSON {
                JSON.object([
                    ("event", .string(word)), ("rev", .count(revision)),
                    ("scopes", .array(scopes.map { .string($0.description) })),
                ]).append(to: &bytes)
            } else {
                bytes.append("event \(revision) \(word) \(scopes.map(\.token).joined(separator: " "))")
            }
        }
        endLine(&bytes)
    }

    private func appendText(_ change: WatchedChange, to bytes: inout [UInt8]) {
        bytes.append("event \(change.revision) ")
        TweakLine(change.node, change.new, .was(change.old, .none)).append(to: &bytes)
        bytes.append(" by \(change.origin)")
    }

    private func appendJSON(_ change: WatchedChange, _ layer: TweakLayer, to bytes: inout [UInt8]) {
        let line = TweakLine(change.node, change.new, .was(change.old, .none)).json
        guard case .object(let fields) = line else { return }
        JSON.object(
            [("event", .string("change")), ("rev", .count(change.revision))] + fields
                + [
                    ("by", .string(change.origin.description)), ("layer", .string(layer.name)),
                    ("overridden", .bool(layer.isOverride)),
                ]
        ).append(to: &bytes)
    }

    /// Appends a line end.
    package func endLine(_ bytes: inout [UInt8]) {
        if usesCRLF { bytes.append(UInt8(ascii: "\r")) }
        bytes.append(UInt8(ascii: "\n"))
    }
}

extension [UInt8] {
    /// Appends a literal without creating a string.
    fileprivate mutating func append(word: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }
}

extension Reply.Item {
    fileprivate var line: TweakLine? {
        if case .tweak(let line) = self { line } else { nil }
    }
}

extension Reply.Body {
    fileprivate var isList: Bool {
        if case .none = self { false } else { true }
    }

    fileprivate func item(_ position: Int) -> Reply.Item? {
        switch self {
        case .none: nil
        case .items(let items): position < items.count ? items[position] : nil
        case .stream(let next): next(position)
        }
    }
}
