// Finds out how far the audit file got, because a machine crash can lose its last lines.

import Tweaks
import TweaksSystem
import TweaksWire

/// The progress of an audit file, from its last lines.
struct AuditProgress {
    /// The last revision in the file; its own commit may be incomplete.
    private(set) var revision: UInt64 = 0
    /// The number of tweaks in that commit, and those that have a line.
    private var tweaks: Int64 = 1
    private var paths: Set<String> = []
    /// Whether the commit's line count is unknown: its first lines may be before the part that was read, or it was left
    /// out.
    private var isPartial = true

    /// Nil if no line has a revision: then nothing is known to be missing.
    init?(_ bytes: [UInt8]) {
        var isFirst = true
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let fields = Fields(Array(line)), let revision = fields.revision else { continue }
            note(revision, fields, isFirst)
            isFirst = false
        }
        if isFirst { return nil }
    }

    private mutating func note(_ revision: UInt64, _ fields: Fields, _ isFirst: Bool) {
        if revision > self.revision { (self.revision, tweaks, paths, isPartial) = (revision, 1, [], isFirst) }
        guard revision == self.revision else { return }
        tweaks = max(tweaks, fields.tweaks)
        if let path = fields.path { paths.insert(path) } else { isPartial = true }
    }

    /// Whether the file lacks a line for an item of the history.
    func lacks(_ item: AuditItem) -> Bool {
        guard case .change(let commit, let change, let tweaks) = item.content else { return false }
        if commit.revision != revision { return commit.revision > revision }
        return !isPartial && paths.count < self.tweaks && tweaks == self.tweaks && !paths.contains(change.path.joined)
    }

    /// The fields of a line.
    private struct Fields {
        var revision: UInt64?
        var tweaks: Int64 = 1
        var path: String?

        /// Nil for an incomplete line.
        init?(_ line: [UInt8]) {
            var reader = JSONReader(line)
            do throws(JSONReader.Problem) {
                try reader.check()
                try reader.object { key, reader throws(JSONReader.Problem) in
                    switch key {
                    // Lines that were left out are accounted for, not missing.
                    case "revision", "to revision": revision = UInt64(exactly: try reader.whole(key))
                    case "tweaks": tweaks = try reader.whole(key)
                    case "path": path = try reader.text(key)
                    default: try reader.skip()
                    }
                }
            } catch {
                return nil
            }
        }
    }
}

extension AuditFile {
    /// Larger than one commit, except for the largest.
    static let tailSize = 1_048_576

    /// The progress of the audit; if the current file has no revision, that of the previous file. Nil if neither has
    /// one.
    var progress: AuditProgress? {
        guard let directory = try? Folder(folder, files) else { return nil }
        for number in 0...1 {
            if let progress = AuditProgress(tail(number, directory)) { return progress }
        }
        return nil
    }
}
