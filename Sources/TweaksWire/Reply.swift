// What a request is answered with, before it is text or JSON.

package import Tweaks

/// The answer to one request: body items, then one status.
package struct Reply: Sendable {
    /// How it went.
    package enum Status: Sendable {
        /// `ok` and a few words; in JSON, fields of the object.
        case ok(words: String, fields: [(String, JSON)])
        case error(TweakError)
    }

    /// One entry of the body.
    package enum Item: Sendable {
        case tweak(TweakLine)
        /// Lines for people, and the same for programs.
        case row(lines: [String], json: JSON)
    }

    /// Where the items come from.
    package enum Body: Sendable {
        case none
        case items([Item])
        /// A long list that is made while it is sent; nil at its end.
        case stream(@Sendable (Int) -> Item?)
    }

    package var status: Status
    /// The name of the list in JSON.
    package var listName: String
    package var body: Body
    /// More body lines for people, behind the items; programs find the same among the fields of the status.
    package var remarks: [String] = []
    /// The revision that has to be on disk before this is sent; nil: none.
    package var awaits: UInt64?
    /// What its body holds together with others, where it is made while it is sent.
    package var pin: PinnedBytes?
    /// What its body holds by itself, roughly, where it is made while it is sent.
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

    /// `ok` and words.
    package static func ok(_ words: String = "", _ fields: [(String, JSON)] = []) -> Reply {
        Reply(.ok(words: words, fields: fields))
    }

    package static func error(_ error: TweakError) -> Reply { Reply(.error(error)) }

    /// `ok rev N`.
    package static func revision(_ revision: UInt64, _ words: String = "", _ body: Body = .none) -> Reply {
        let text = words.isEmpty ? "rev \(revision)" : "rev \(revision) \(words)"
        return Reply(.ok(words: text, fields: [("rev", .count(revision))]), body: body)
    }

    /// What the disk's refusal makes of it: the change is in effect, and not saved.
    package func unsaved(_ reason: String) -> Reply {
        guard case .ok(let words, let fields) = status else { return self }
        var reply = self
        let added = "unsaved: \(reason)"
        reply.status = .ok(
            words: words.isEmpty ? added : "\(words) \(added)", fields: fields + [("unsaved", .string(reason))])
        return reply
    }

    /// Takes a list as its body, which is made text while it is sent where it is long.
    package mutating func list(_ items: [Item]) {
        if items.count <= 64 { return body = .items(items) }
        body = .stream { $0 < items.count ? items[$0] : nil }
        streamBytes = items.reduce(0) { $0 + $1.heldBytes }
    }

    /// A list of rows under a name.
    package static func rows(_ listName: String, _ rows: [(lines: [String], json: JSON)]) -> Reply {
        Reply(
            .ok(words: "", fields: []), listName: listName,
            body: .items(rows.map { .row(lines: $0.lines, json: $0.json) }))
    }

    /// One object, shown to people as `name: value` lines.
    /// - Parameter texts: What people read in place of a field.
    package static func facts(_ fields: [(String, JSON)], texts: [String: [String]] = [:]) -> Reply {
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

/// News for a watching session.
package enum Event: Sendable {
    case change(WatchedChange)
    case lagged(revision: UInt64, count: Int)
    /// It was decided what the session had asked for.
    case decided(revision: UInt64, isGranted: Bool, [TweakScope])
}

extension Reply {
    /// What it takes in memory as long as it is not written, roughly; without what it has pinned.
    package var heldBytes: Int {
        switch body {
        case .none: return 256
        case .stream: return 256 + streamBytes + (pin == nil ? 0 : 4_096)
        case .items(let items): return items.reduce(256) { $0 + $1.heldBytes }
        }
    }
}

extension Reply.Item {
    /// Its approximate size in memory, in bytes.
    package var heldBytes: Int {
        switch self {
        case .tweak(let line): 128 + (line.value?.textBytes ?? 0)
        // The same stands in the JSON.
        case .row(let lines, _): lines.reduce(128) { $0 + 2 * $1.utf8.count }
        }
    }
}
