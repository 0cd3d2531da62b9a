// Reads the end of the audit for what is in it: after a crash of the machine the last lines may be missing.

import Tweaks
import TweaksSystem
import TweaksWire

/// How far an audit has come, as its last lines say.
struct AuditEnd {
    /// Everything up to this revision is in it; of the commit itself, perhaps, not all tweaks.
    private(set) var revision: UInt64 = 0
    /// The tweaks of that commit, and those that have a line.
    private var tweaks: Int64 = 1
    private var paths: Set<String> = []
    /// How many lines it should have is not known: its first ones may not have been looked at, or it was left out.
    private var isVague = true

    /// Nil where no line has a revision: nothing is known then, least of all that something is missing.
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
        if revision > self.revision { (self.revision, tweaks, paths, isVague) = (revision, 1, [], isFirst) }
        guard revision == self.revision else { return }
        tweaks = max(tweaks, fields.tweaks)
        if let path = fields.path { paths.insert(path) } else { isVague = true }
    }

    /// Whether it has no line of something that the history has.
    func lacks(_ item: AuditItem) -> Bool {
        guard case .change(let commit, let change, let tweaks) = item.content else { return false }
        if commit.revision != revision { return commit.revision > revision }
        return !isVague && paths.count < self.tweaks && tweaks == self.tweaks && !paths.contains(change.path.joined)
    }

    /// What a line says of it.
    private struct Fields {
        var revision: UInt64?
        var tweaks: Int64 = 1
        var path: String?

        /// Nil for half a line.
        init?(_ line: [UInt8]) {
            var reader = JSONReader(line)
            do throws(JSONReader.Problem) {
                try reader.check()
                try reader.object { key, reader throws(JSONReader.Problem) in
                    switch key {
                    // What was left out is counted, and no more missing than that.
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
    /// More than one commit has, but for the largest.
    private static let endSize = 1_048_576

    /// How far it has come; where it was begun anew just before the end, the one before. Nil where nothing says that.
    var end: AuditEnd? {
        guard let directory = try? Folder(folder, files) else { return nil }
        for number in 0...1 {
            let file = try? directory.open(older(number), for: .reading, FileRules(.anyone))
            if let bytes = try? file?.tail(Self.endSize), let end = AuditEnd(bytes) { return end }
        }
        return nil
    }
}
