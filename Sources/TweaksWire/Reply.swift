// Models the reply to a request, before it is encoded as text or JSON.

package import Tweaks

/// The reply to one request: body items, then one status.
package struct Reply: Sendable {
    /// Success or failure.
    package enum Status: Sendable {
        /// `ok` and a few words; in JSON, fields of the object instead.
        case ok(words: String, fields: [(String, JSON)])
        case error(TweakError)
    }

    /// One entry of the body.
    package enum Item: Sendable {
        case tweak(TweakLine)
        /// Text lines, and the same as JSON.
        case row(lines: [String], json: JSON)
        /// A part of a text in the format of another project; only encoders of files write it.
        case bytes([UInt8])
    }

    /// The source of the items.
    package enum Body: Sendable {
        case none
        case items([Item])
        /// A long list that is generated while it is sent; nil at its end.
        case stream(@Sendable (Int) -> Item?)
    }

    package var status: Status
    /// The name of the list in JSON.
    package var listName: String
    package var body: Body
    /// More text lines after the items; in JSON, fields of the status carry the same.
    package var remarks: [String] = []
    /// The revision that must be on disk before the reply is sent; nil for none.
    package var durableRevision: UInt64?
    /// Whether it also waits for the disk, and not for the audit alone.
    package var waitsForDisk = true
    /// The memory that a streamed body shares with other replies.
    package var pin: PinnedBytes?
    /// The approximate memory that a streamed body holds by itself.
    package var streamBytes = 0

    package init(_ status: Status, listName: String = "tweaks", body: Body = .none) {
        self.status = status
        self.listName = listName
        self.body = body
    }

    package init(_ status: Status, listName: String, list items: [Item]) {
        self.init(status, listName: listName)
        list(items)
    }

    /// `ok`, with words for text and fields for JSON.
    package static func ok(_ words: String = "", _ fields: [(String, JSON)] = []) -> Reply {
        Reply(.ok(words: words, fields: fields))
    }

    package static func error(_ error: TweakError) -> Reply { Reply(.error(error)) }

    /// `ok rev N`.
    package static func revision(_ revision: UInt64, _ words: String = "", _ body: Body = .none) -> Reply {
        let text = words.isEmpty ? "rev \(revision)" : "rev \(revision) \(words)"
        return Reply(.ok(words: text, fields: [("rev", .count(revision))]), body: body)
    }

    /// The same reply with `unsaved: REASON` or `unaudited: REASON`: the change is in effect, but not on disk, or not in
    /// the audit.
    package func lacking(unsaved: String?, unaudited: String?) -> Reply {
        guard case .ok(var words, var fields) = status else { return self }
        var reply = self
        for (name, reason) in [("unaudited", unaudited), ("unsaved", unsaved)] {
            guard let reason else { continue }
            words += words.isEmpty ? "\(name): \(reason)" : " \(name): \(reason)"
            fields.append((name, .string(reason)))
        }
        reply.status = .ok(words: words, fields: fields)
        return reply
    }

    /// Sets a list as the body; a list of more than 64 items is encoded while it is sent.
    package mutating func list(_ items: [Item]) {
        if items.count <= 64 { return body = .items(items) }
        body = .stream { $0 < items.count ? items[$0] : nil }
        streamBytes = items.reduce(0) { $0 + $1.memorySize }
    }

    /// A list of rows; `listName` is its field in JSON.
    package static func rows(_ listName: String, _ rows: [(lines: [String], json: JSON)]) -> Reply {
        Reply(
            .ok(words: "", fields: []), listName: listName,
            body: .items(rows.map { .row(lines: $0.lines, json: $0.json) }))
    }

    /// One object; as text, `name: value` lines.
    /// - Parameter texts: The text lines that replace a field.
    package static func info(_ fields: [(String, JSON)], texts: [String: [String]] = [:]) -> Reply {
        let items = fields.flatMap { field in
            texts[field.0]?.map { "\(field.0): \($0)" } ?? Self.lines(field.0, field.1)
        }
        return Reply(
            .ok(words: "", fields: fields), listName: "",
            body: items.isEmpty ? .none : .items(items.map { .row(lines: [$0], json: .null) }))
    }

    private static func lines(_ name: String, _ value: JSON) -> [String] {
        switch value {
        case .array(let values) where !values.isEmpty: values.map { "\(name): \(inline($0))" }
        default: ["\(name): \(inline(value))"]
        }
    }

    private static func inline(_ value: JSON) -> String {
        switch value {
        case .string(let text): text
        case .array: "none"
        case .object(let fields) where fields.isEmpty: "none"
        case .object(let fields):
            fields.filter { $0.1 != .null }.map { "\($0.0) \(inline($0.1))" }.joined(separator: ", ")
        default: value.text
        }
    }
}

/// An event for a session that watches.
package enum Event: Sendable {
    case change(WatchedChange, layer: TweakLayer)
    case lagged(revision: UInt64, count: Int)
    /// The program granted or declined the scopes that the session requested.
    case decided(revision: UInt64, isGranted: Bool, [TweakScope])
}

extension Reply {
    /// Its approximate size in memory until it is written, without pinned bytes.
    package var memorySize: Int {
        switch body {
        case .none: return 256
        case .stream: return 256 + streamBytes + (pin == nil ? 0 : 4_096)
        case .items(let items): return items.reduce(256) { $0 + $1.memorySize }
        }
    }
}

extension Reply.Item {
    /// Its approximate size in memory, in bytes.
    package var memorySize: Int {
        switch self {
        case .tweak(let line): 128 + (line.value?.textBytes ?? 0)
        // The JSON holds the same texts.
        case .row(let lines, _): lines.reduce(128) { $0 + 2 * $1.utf8.count }
        case .bytes(let bytes): 128 + bytes.count
        }
    }
}
