// Holds the pending values of one tweak compactly: files can have many lines for tweaks that never register.

/// The pending values of one unregistered tweak, whose path the caller knows.
struct PendingLayers: Sendable {
    private var line: PendingLine?
    /// Empty for most tweaks, and then without memory of its own.
    private var others: [(layer: TweakLayer, entry: StoredEntry)] = []

    init() {}

    var isEmpty: Bool { line == nil && others.isEmpty }

    /// Whether the config file has a value.
    var hasFileValue: Bool { line != nil || others.contains { $0.layer == .configFile } }

    /// Whether there is an override or a temporary override.
    var hasOverride: Bool { others.contains { $0.layer >= .override } }

    /// The value of a layer.
    func entry(_ layer: TweakLayer, of path: TweakPath) -> StoredEntry? {
        if layer == .configFile, let line { return line.entry(path) }
        return others.first { $0.layer == layer }?.entry
    }

    mutating func set(_ entry: StoredEntry, for layer: TweakLayer) {
        remove(layer)
        others.append((layer, entry))
    }

    mutating func set(_ line: PendingLine) {
        remove(.configFile)
        self.line = line
    }

    mutating func remove(_ layer: TweakLayer) {
        if layer == .configFile { line = nil }
        others.removeAll { $0.layer == layer }
    }
}

/// A pending line of a config file.
struct PendingLine: Sendable {
    /// What the lines of one file have in common.
    final class File: Sendable {
        let source: ConfigEntry.Source
        let time: ContinuousClock.Instant

        init(_ source: ConfigEntry.Source, _ time: ContinuousClock.Instant) {
            self.source = source
            self.time = time
        }
    }

    let text: String
    /// Clamped; a file has fewer lines.
    private let number: UInt32
    private let file: File

    init(_ entry: ConfigEntry, _ file: File) {
        text = entry.text
        number = UInt32(clamping: entry.line)
        self.file = file
    }

    func entry(_ path: TweakPath) -> StoredEntry {
        StoredEntry(
            path: path, content: .text(text), origin: file.source.origin(line: Int(number)), time: file.time)
    }

    /// Its size in memory, in bytes, with its place in a table that is a third full and the headers of two texts.
    func memorySize(_ path: TweakPath) -> Int {
        3 * (MemoryLayout<TweakPath>.stride + MemoryLayout<PendingLayers>.stride) + 64 + path.joined.utf8.count
            + text.utf8.count
    }
}
