// Reads the beginning of an audit line, which tells a new process what was written before it.

import Tweaks
import TweaksSystem

/// Who is responsible for a line, and when it was written.
struct AuditLineHead {
    private(set) var time: Int64 = 0
    private(set) var from = ""
    /// Of the values with which a config file has begun a run, their digest; see ``AuditStart``.
    private(set) var startDigest: String?
    private var by = ""
    private var peer: String?
    private var hasSession = false
    private var isStart = false

    /// All of it is in the first bytes of a line.
    private static let maxBytes = 2_048

    /// Nil for what is no line of an action.
    init?(_ line: some Sequence<UInt8>) {
        var reader = JSONReader(Array(line.prefix(Self.maxBytes)), at: 0)
        var head = AuditLineHead()
        // The rest, from the path on, is not read.
        try? reader.object { key, reader throws(JSONReader.Problem) in try head.read(key, &reader) }
        if head.by.isEmpty || head.time == 0 { return nil }
        self = head
    }

    private init() {}

    private mutating func read(_ key: String, _ reader: inout JSONReader) throws(JSONReader.Problem) {
        switch key {
        case "time": time = TimeText.parse(try reader.string()) ?? 0
        case "by": by = try reader.string()
        case "from": from = try reader.string()
        case "peer": peer = try reader.string()
        case "session": hasSession = try reader.whole(key) > 0
        case "start": isStart = try reader.scalar() == .bool(true)
        case "sha256": startDigest = isStart ? try reader.string() : nil
        case "path": throw reader.problem("the head ends here")
        default: try reader.skip()
        }
    }

    /// The client whose budget the line has spent; nil for the program and its files, which are never refused.
    var client: String? {
        guard hasSession else { return nil }
        // A display name has no parentheses.
        let name = by.utf8.last == UInt8(ascii: ")") ? by.utf8.lastIndex(of: UInt8(ascii: "(")) : nil
        let identity = name.map { String(by.utf8[..<$0].dropLast()) ?? by } ?? by
        return TweakOrigin.client(identity, peer)
    }
}

extension AuditFile {
    /// Whether no line was ever written.
    var isNew: Bool {
        guard let directory = try? Folder(folder, files) else { return false }
        return tail(0, directory).isEmpty && fileInfo(1, directory) == nil
    }

    /// The digest of the config file's values at the last start, if nothing of the config file has been written after that,
    /// in the current file.
    var lastStart: String? {
        guard let directory = try? Folder(folder, files) else { return nil }
        for line in tail(0, directory).split(separator: UInt8(ascii: "\n")).reversed() {
            if let head = AuditLineHead(line), head.from == "config file" { return head.startDigest }
        }
        return nil
    }
}
