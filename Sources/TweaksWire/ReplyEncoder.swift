// Encodes replies and events as text lines or as one JSON object a line.

package import Tweaks

/// Encodes replies with the options of one session.
package struct ReplyEncoder: Sendable {
    /// Whether to encode JSON, one object a line, instead of text.
    package var isJSON = false
    /// In JSON: whether each object also has `text`, the lines of the text form.
    package var hasText = false
    /// Whether lines end with CR LF, as the client's do.
    package var usesCRLF = false
    /// Whether to omit the status of a success, so that the output is a file of its items.
    package var isForFile = false

    package init() {}

    /// Whether the text form of replies is written, by itself or beside the JSON.
    package var writesText: Bool { !isJSON || hasText }

    /// After about this many bytes encoding pauses, so that other sessions get their turn.
    package static let slice = 16_384

    /// Encodes a reply, or the beginning of a long one.
    /// - Returns: The remainder; nil when the reply is complete.
    package func append(_ reply: Reply, to bytes: inout [UInt8]) -> Remainder? {
        if isJSON { appendJSONHead(reply, to: &bytes) }
        if isJSON, hasText { return append(textOf: reply, to: &bytes) }
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
        /// Whether its list in JSON is complete, and the same as text follows.
        fileprivate var isText = false

        fileprivate init(_ reply: Reply, _ encoder: ReplyEncoder, position: Int, column: Int) {
            self.reply = reply
            self.encoder = encoder
            self.position = position
            self.column = column
        }

        /// The memory that it shares with other replies.
        package var pin: PinnedBytes? { reply.pin }
    }

    /// Continues a long reply until it ends or the output has grown by about `budget` bytes; items are not divided.
    /// - Returns: The new remainder; nil when the reply is complete.
    package func append(_ remainder: Remainder, budget: Int, to bytes: inout [UInt8]) -> Remainder? {
        var remainder = remainder
        let limit = bytes.count + budget
        let encoder = remainder.encoder
        let reply = remainder.reply
        while true {
            while let item = reply.body.item(remainder.position) {
                if remainder.isText {
                    encoder.appendQuoted(item, column: remainder.column, to: &bytes)
                } else {
                    let isFirst = remainder.position == 0
                    encoder.append(item, isFirst: isFirst, reply.listName, column: remainder.column, to: &bytes)
                }
                remainder.position += 1
                // Items can be empty, and it takes time to find that out.
                if bytes.count >= limit || remainder.position.isMultiple(of: 1_024) { return remainder }
            }
            if !encoder.hasText || remainder.isText { break }
            encoder.beginText(&remainder, to: &bytes)
        }
        encoder.appendEnd(reply, hasList: !encoder.hasText, to: &bytes)
        return nil
    }

    // MARK: Text beside JSON

    /// Encodes the list of a reply and then its lines as text, or the beginning of both.
    private func append(textOf reply: Reply, to bytes: inout [UInt8]) -> Remainder? {
        var column = TweakLine.column
        if case .items(let items) = reply.body, items.count > 1 {
            column = TweakLine.column(of: items.lazy.compactMap(\.line))
        }
        var remainder = Remainder(reply, self, position: 0, column: column)
        if reply.listName.isEmpty { beginText(&remainder, to: &bytes) }
        return append(remainder, budget: Self.slice, to: &bytes)
    }

    private func beginText(_ remainder: inout Remainder, to bytes: inout [UInt8]) {
        if remainder.reply.body.isList, !remainder.reply.listName.isEmpty { bytes.append("]") }
        bytes.append(",\"text\":[")
        remainder.isText = true
        remainder.position = 0
    }

    /// What writes the text form: without line ends of the client, which are no part of a line.
    private static let plain = ReplyEncoder()

    /// The lines of an item, each followed by a comma: the status is the last line.
    private func appendQuoted(_ item: Reply.Item, column: Int, to bytes: inout [UInt8]) {
        var lines: [UInt8] = []
        Self.plain.append(item, isFirst: true, "", column: column, to: &lines)
        if lines.isEmpty { return }
        appendQuoted(lines, to: &bytes)
        bytes.append(",")
    }

    private func appendQuoted(_ lines: [UInt8], to bytes: inout [UInt8]) {
        var isFirst = true
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            if !isFirst { bytes.append(",") }
            bytes.append(Quoting.json(String(decoding: line, as: UTF8.self)))
            isFirst = false
        }
    }

    /// Ends a long reply early, with an error in place of its status. The JSON has begun with `"ok":true` already; its
    /// field `error` takes precedence.
    package func abort(_ remainder: Remainder, _ error: TweakError, to bytes: inout [UInt8]) {
        let encoder = remainder.encoder
        if encoder.isJSON {
            if remainder.isText {
                bytes.append("null]")
            } else if !remainder.reply.listName.isEmpty {
                bytes.append("]")
            }
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
            case .bytes: bytes.append("null")
            }
            return
        }
        switch item {
        case .tweak(let line):
            line.append(to: &bytes, column: column)
            endLine(&bytes)
        case .row(let lines, _): append(lines, to: &bytes)
        case .bytes(let part): bytes += part
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
            if hasText {
                var end: [UInt8] = []
                Self.plain.appendEnd(reply, hasList: false, to: &end)
                appendQuoted(end, to: &bytes)
                bytes.append("]")
            }
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
        let force = error.canBeForced ? [("force", JSON.bool(true))] : []
        return .object([("code", .string(error.code.rawValue)), ("message", .string(error.message))] + path + force)
    }

    private func appendText(_ error: TweakError, to bytes: inout [UInt8]) {
        bytes.append("error \(error.code.rawValue) ")
        bytes.append(Quoting.sanitized(error.message))
    }

    // MARK: Events

    /// Encodes one event.
    package func append(_ event: Event, to bytes: inout [UInt8]) {
        if isJSON {
            var fields = Self.fields(event)
            if hasText {
                var text: [UInt8] = []
                appendText(event, to: &text)
                fields.append(("text", .string(String(decoding: text, as: UTF8.self))))
            }
            JSON.object(fields).append(to: &bytes)
        } else {
            appendText(event, to: &bytes)
        }
        endLine(&bytes)
    }

    private func appendText(_ event: Event, to bytes: inout [UInt8]) {
        switch event {
        case .change(let change, _):
            bytes.append("event \(change.revision) ")
            TweakLine(change.node, change.new, .was(change.old, .none)).append(to: &bytes)
            bytes.append(" by \(change.origin)")
        case .lagged(let revision, let count): bytes.append("event \(revision) lagged \(count)")
        case .decided(let revision, let isGranted, let scopes):
            let word = isGranted ? "granted" : "declined"
            bytes.append("event \(revision) \(word) \(scopes.map(\.token).joined(separator: " "))")
        }
    }

    private static func fields(_ event: Event) -> [(String, JSON)] {
        switch event {
        case .change(let change, let layer):
            let line = TweakLine(change.node, change.new, .was(change.old, .none)).json
            guard case .object(let fields) = line else { return [] }
            return [("event", .string("change")), ("rev", .count(change.revision))] + fields
                + [
                    ("by", .string(change.origin.description)), ("layer", .string(layer.name)),
                ] + (layer == .preview ? [] : [("overridden", .bool(layer.isOverride))])
        case .lagged(let revision, let count):
            return [("event", .string("lagged")), ("rev", .count(revision)), ("count", .count(count))]
        case .decided(let revision, let isGranted, let scopes):
            return [
                ("event", .string(isGranted ? "granted" : "declined")), ("rev", .count(revision)),
                ("scopes", .array(scopes.map { .string($0.description) })),
            ]
        }
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

    /// The item at a position; nil at the end.
    package func item(_ position: Int) -> Reply.Item? {
        switch self {
        case .none: nil
        case .items(let items): position < items.count ? items[position] : nil
        case .stream(let next): next(position)
        }
    }
}
