// What the overrides file is to hold: the line of each override, what was proposed on top, and the revision.

import Tweaks

/// All overrides as lines. Writing ten thousand of them must not cost more than copying them.
struct OverrideBook: Sendable {
    private typealias Line = (key: OverrideKey, text: [UInt8])

    private(set) var anchor: TimeAnchor
    /// Everything up to this revision of the registry is here.
    private(set) var revision: UInt64 = 0
    /// What the file said when it was read; a file that was found late may be ahead of us.
    private var fileRevision: UInt64 = 0
    /// By path, and of one path the override first.
    private var lines: [Line] = []
    /// Those that end by themselves: when they do is said anew where somebody sets the wall clock.
    private var temporary: [OverrideKey: StoredEntry] = [:]
    /// Those whose kind of value this build does not know: they stay as they are until their tweaks are set.
    private var foreign: Set<OverrideKey> = []
    /// What the file has that cannot be taken: kept as it is, until a person mends it.
    private(set) var aside: [[UInt8]] = []
    /// What was reset before the file could be read, and must not come back with it; nil once it was read.
    private var resetBeforeLoading: Set<OverrideKey>? = []
    /// What is on disk without being in force, oldest first: whoever proposed it commits it next, or withdraws it.
    private var proposed: [OverrideKey: [StoredEntry?]] = [:]

    init(anchor: TimeAnchor) { self.anchor = anchor }

    var count: Int { lines.count }

    // MARK: Taking in

    /// Takes what a file held, beneath what is here already.
    /// - Parameter isLate: The registry does not count on from its revision: it was not found when that began.
    mutating func load(_ file: OverridesFile, isLate: Bool = false) {
        fileRevision = file.revision
        aside = file.allAside
        for entry in file.entries where entry.stored == nil && position(of: entry.key).line == nil {
            foreign.insert(entry.key)
        }
        if !isLate, lines.isEmpty, revision == 0 {
            revision = file.revision
            lines = file.entries.map { ($0.key, $0.text) }
            for entry in file.entries where entry.key.isTemporary { temporary[entry.key] = entry.stored }
        } else {
            for entry in file.entries where position(of: entry.key).line == nil {
                if resetBeforeLoading?.contains(entry.key) != true { put(entry.key, entry.text, entry.stored) }
            }
        }
        resetBeforeLoading = nil
    }

    /// Takes what was committed.
    mutating func apply(_ batch: StoreBatch) {
        revision = max(revision, batch.revision)
        var changes = batch.changes
        if batch.isWhole {
            for line in lines where changes[line.key] == nil && !foreign.contains(line.key) {
                changes[line.key] = .some(nil)
            }
        }
        if changes.count > 64 { reserve(for: changes) }
        for (key, entry) in changes {
            put(key, entry.flatMap { OverridesFile.line($0, anchor) }, entry)
            foreign.remove(key)
            if entry == nil { resetBeforeLoading?.insert(key) }
            if !proposed.isEmpty { settle(key, entry) }
        }
    }

    // Inserting one by one would move the rest each time; so the places are made in one go.
    private mutating func reserve(for changes: OverrideChanges) {
        let new = changes.filter { $0.value != nil && position(of: $0.key).line == nil }
        lines += new.map { ($0.key, []) }
        lines.sort { $0.key.precedes($1.key) }
    }

    private mutating func put(_ key: OverrideKey, _ text: [UInt8]?, _ entry: StoredEntry?) {
        Self.put(key, text, in: &lines)
        if key.isTemporary { temporary[key] = entry }
    }

    private static func put(_ key: OverrideKey, _ text: [UInt8]?, in lines: inout [Line]) {
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
        var (low, high) = (0, lines.count)
        while low < high {
            let middle = (low + high) / 2
            if lines[middle].key.precedes(key) { low = middle + 1 } else { high = middle }
        }
        return (low, low < lines.count && lines[low].key == key ? lines[low] : nil)
    }

    /// Whether somebody who sets the wall clock would move an end.
    var hasTemporary: Bool { !temporary.isEmpty }

    /// Says anew when temporary overrides end: the wall clock was set.
    /// - Returns: Whether there are any.
    mutating func reanchor(_ anchor: TimeAnchor) -> Bool {
        self.anchor = anchor
        for (key, entry) in temporary { put(key, OverridesFile.line(entry, anchor), entry) }
        return !temporary.isEmpty
    }

    // MARK: Proposals

    /// Keeps what is on disk now until it is in force.
    mutating func accept(_ changes: OverrideChanges) {
        for (key, entry) in changes { proposed[key, default: []].append(entry) }
    }

    /// Forgets the oldest proposal of each of these. False when there was none: others' for the same tweak stay.
    mutating func withdraw(_ changes: OverrideChanges) -> Bool {
        changes.count { key, entry in
            guard let own = proposed[key]?.firstIndex(where: { $0?.content == entry?.content }) else { return false }
            proposed[key]?.remove(at: own)
            if proposed[key]?.isEmpty == true { proposed[key] = nil }
            return true
        } > 0
    }

    /// An override was put in force. Proposals are, in turn; so this one's, and those before it, have had theirs. Where
    /// it is nobody's, somebody else had the last word, and whoever proposed something notes it anew.
    private mutating func settle(_ key: OverrideKey, _ entry: StoredEntry?) {
        guard let waiting = proposed[key] else { return }
        let own = waiting.firstIndex { $0?.content == entry?.content }
        let rest = own.map { Array(waiting[($0 + 1)...]) } ?? []
        proposed[key] = rest.isEmpty ? nil : rest
    }

    // MARK: Giving out

    /// What is proposed is answered with a revision that is told here only afterwards, when the answer may be out
    /// already. So that a crash in between does not take the revision back, counting would go on beyond it.
    private func reserve(_ more: [OverrideChanges]) -> UInt64 { proposed.isEmpty && more.isEmpty ? 0 : 1_000 }

    /// The file as it ought to be, with more proposals on top.
    func text(program: String, proposing more: [OverrideChanges]) -> [UInt8] {
        var lines = lines
        for (key, waiting) in proposed {
            if let last = waiting.last { Self.put(key, last.flatMap { OverridesFile.line($0, anchor) }, in: &lines) }
        }
        for changes in more {
            for (key, entry) in changes {
                Self.put(key, entry.flatMap { OverridesFile.line($0, anchor) }, in: &lines)
            }
        }
        return OverridesFile.text(
            program: program, revision: max(revision, fileRevision) + reserve(more), lines: lines.lazy.map(\.text),
            aside: aside)
    }
}
