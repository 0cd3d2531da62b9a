// Holds the intended content of the overrides file: override lines, proposals, and the revision.

import Tweaks

/// All overrides as encoded lines, so that writing ten thousand of them costs no more than copying them.
struct OverrideTable: Sendable {
    private typealias Line = (key: OverrideKey, text: [UInt8])

    private(set) var anchor: TimeAnchor
    /// The last revision of the registry that is included.
    private(set) var revision: UInt64 = 0
    /// The revision in the file when it was read; a file that is read late can be ahead of the registry.
    private var fileRevision: UInt64 = 0
    /// Sorted by path; the override comes before the temporary override of the same path.
    private var lines: [Line] = []
    /// Temporary overrides; their expiry times are rewritten when the wall clock is set.
    private var temporary: [OverrideKey: StoredEntry] = [:]
    /// Overrides of a kind that this build does not know; they are kept unchanged until their tweaks are set.
    private var unknownKinds: Set<OverrideKey> = []
    /// Rejected entries of the file, kept unchanged until an operator corrects them.
    private(set) var quarantined: [[UInt8]] = []
    /// Keys reset before the file was readable, which loading must not restore; nil once it was read.
    private var resetBeforeLoading: Set<OverrideKey>? = []
    /// Proposals that are on disk but not in effect, oldest first: the proposer commits or withdraws each.
    private var proposed: [OverrideKey: [StoredEntry?]] = [:]

    init(anchor: TimeAnchor) { self.anchor = anchor }

    var count: Int { lines.count }

    // MARK: Input

    /// Loads a file's entries below the current ones.
    /// - Parameter isLate: The registry started before the file was readable, so its revision does not continue the
    ///   file's.
    mutating func load(_ file: OverridesFile, isLate: Bool = false) {
        fileRevision = file.revision
        quarantined = file.allQuarantined
        for entry in file.entries where entry.stored == nil && position(of: entry.key).line == nil {
            unknownKinds.insert(entry.key)
        }
        if !isLate, lines.isEmpty, revision == 0 {
            revision = file.revision
            lines = file.entries.map { ($0.key, $0.text) }
            for entry in file.entries where entry.key.isTemporary { temporary[entry.key] = entry.stored }
        } else {
            for entry in file.entries where position(of: entry.key).line == nil {
                if resetBeforeLoading?.contains(entry.key) != true { setLine(entry.key, entry.text, entry.stored) }
            }
        }
        resetBeforeLoading = nil
    }

    /// Applies committed changes.
    mutating func apply(_ batch: StoreBatch) {
        revision = max(revision, batch.revision)
        var changes = batch.changes
        if batch.isWhole {
            for line in lines where changes[line.key] == nil && !unknownKinds.contains(line.key) {
                changes[line.key] = .some(nil)
            }
        }
        if changes.count > 64 { reserve(for: changes) }
        for (key, entry) in changes {
            setLine(key, entry.flatMap { OverridesFile.line($0, anchor) }, entry)
            unknownKinds.remove(key)
            if entry == nil { resetBeforeLoading?.insert(key) }
            if !proposed.isEmpty { removeProposals(key, entry) }
        }
    }

    // Makes space for all new lines at once; inserting one by one would move the rest each time.
    private mutating func reserve(for changes: OverrideChanges) {
        let new = changes.filter { $0.value != nil && position(of: $0.key).line == nil }
        lines += new.map { ($0.key, []) }
        lines.sort { $0.key.precedes($1.key) }
    }

    private mutating func setLine(_ key: OverrideKey, _ text: [UInt8]?, _ entry: StoredEntry?) {
        Self.setLine(key, text, in: &lines)
        if key.isTemporary { temporary[key] = entry }
    }

    private static func setLine(_ key: OverrideKey, _ text: [UInt8]?, in lines: inout [Line]) {
        let (index, line) = position(of: key, in: lines)
        switch (line, text) {
        case (nil, nil): break
        case (nil, let text?): lines.insert((key, text), at: index)
        case (_?, nil): lines.remove(at: index)
        case (_?, let text?): lines[index].text = text
        }
    }

    private func position(of key: OverrideKey) -> (index: Int, line: Line?) { Self.position(of: key, in: lines) }

    private static func position(of key: OverrideKey, in lines: [Line]) -> (index: Int, line: Line?) {
        let index = lines.endOfFirstPart { $0.key.precedes(key) }
        return (index, index < lines.count && lines[index].key == key ? lines[index] : nil)
    }

    /// Whether an expiry time depends on the wall clock.
    var hasTemporary: Bool { !temporary.isEmpty }

    /// Rewrites the expiry times of temporary overrides after the wall clock was set.
    /// - Returns: Whether there are any.
    mutating func reanchor(_ anchor: TimeAnchor) -> Bool {
        self.anchor = anchor
        for (key, entry) in temporary { setLine(key, OverridesFile.line(entry, anchor), entry) }
        return !temporary.isEmpty
    }

    // MARK: Proposals

    /// Stores proposals that are on disk until they take effect.
    mutating func addProposals(_ changes: OverrideChanges) {
        for (key, entry) in changes { proposed[key, default: []].append(entry) }
    }

    /// Drops the oldest matching proposal for each key; false if there was none. Proposals of others stay.
    mutating func withdraw(_ changes: OverrideChanges) -> Bool {
        changes.count { key, entry in
            guard let own = proposed[key]?.firstIndex(where: { $0?.content == entry?.content }) else { return false }
            proposed[key]?.remove(at: own)
            if proposed[key]?.isEmpty == true { proposed[key] = nil }
            return true
        } > 0
    }

    /// Removes proposals after a commit. Proposals commit in order, so a matching one and all before it are done.
    /// Without a match, another commit won, and pending proposals are written again by their proposers.
    private mutating func removeProposals(_ key: OverrideKey, _ entry: StoredEntry?) {
        guard let waiting = proposed[key] else { return }
        let own = waiting.firstIndex { $0?.content == entry?.content }
        let rest = own.map { Array(waiting[($0 + 1)...]) } ?? []
        proposed[key] = rest.isEmpty ? nil : rest
    }

    // MARK: Output

    /// The margin added to the stored revision while proposals are pending. The reply to a proposal can carry a
    /// revision that reaches this table only later; after a crash in between, counting must continue above it.
    private func revisionMargin(_ more: [OverrideChanges]) -> UInt64 { proposed.isEmpty && more.isEmpty ? 0 : 1_000 }

    /// The file's content, with further proposals applied.
    func text(program: String, proposing more: [OverrideChanges]) -> [UInt8] {
        var lines = lines
        for (key, waiting) in proposed {
            guard let last = waiting.last else { continue }
            Self.setLine(key, last.flatMap { OverridesFile.line($0, anchor) }, in: &lines)
        }
        for changes in more {
            for (key, entry) in changes {
                Self.setLine(key, entry.flatMap { OverridesFile.line($0, anchor) }, in: &lines)
            }
        }
        return OverridesFile.text(
            program: program, revision: max(revision, fileRevision) + revisionMargin(more),
            lines: lines.lazy.map(\.text), quarantined: quarantined)
    }
}
