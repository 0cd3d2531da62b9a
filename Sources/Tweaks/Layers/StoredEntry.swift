// Models a layer's value for a path, before the definition of its tweak has validated it.

/// Identifies an override or temporary override of a tweak.
package struct OverrideKey: Hashable, Sendable {
    package let path: TweakPath
    package let isTemporary: Bool

    package init(_ path: TweakPath, isTemporary: Bool = false) {
        self.path = path
        self.isTemporary = isTemporary
    }

    /// The layer of the override.
    package var layer: LayerIndex { isTemporary ? .temporaryOverride : .override }
}

/// A value for one layer of a tweak, from a source or from storage. Its tweak may not be registered, and it may be
/// invalid.
package struct StoredEntry: Sendable, Equatable {
    /// The value, independent of the tweak's definition.
    package enum Content: Sendable, Equatable {
        /// A text without quotes, to be parsed by the tweak's kind.
        case text(String)
        /// A value of a kind.
        case value(TweakValue)
    }

    /// The tweak's path as the source or the storage has it.
    package var path: TweakPath
    package let content: Content
    /// The origin of the set.
    package let origin: TweakOrigin
    /// The time of the set.
    package let time: Moment
    /// For an override, the underlying value when it was set.
    package let covered: TweakValue?
    /// For a temporary override, its end.
    package let expires: Moment?

    package init(
        path: TweakPath, content: Content, origin: TweakOrigin, time: Moment,
        covered: TweakValue? = nil, expires: Moment? = nil
    ) {
        self.path = path
        self.content = content
        self.origin = origin
        self.time = time
        self.covered = covered
        self.expires = expires
    }

    /// The key of this override.
    package var key: OverrideKey { OverrideKey(path, isTemporary: expires != nil) }

    /// Whether it has expired by `time`.
    package func isExpired(_ time: Moment) -> Bool { expires.map { $0 <= time } ?? false }
}

extension StoredEntry {
    /// An override in effect.
    init(_ entry: Overlays.Entry, of node: TweakNode, covering covered: TweakValue?) {
        self.init(
            path: node.path, content: .value(entry.prepared.value), origin: entry.origin, time: entry.time,
            covered: covered, expires: entry.end)
    }
}

extension TweakNode {
    /// Validates a value for a layer. Stored overrides are not clamped, so that reverting a definition restores them.
    func prepare(
        _ content: StoredEntry.Content, _ rules: LayerRules
    ) throws(TweakError) -> (prepared: Prepared, adjustment: TweakAdjustment) {
        if !isSettable { throw notSettable }
        if isSecret, let refusal = rules.secretRefusal {
            throw TweakError(.readOnly, "\(path.token) is secret and takes \(refusal)", path: path)
        }
        switch content {
        case .text(let text): return try prepare(try read(text, from: .file))
        case .value(let value): return try prepare(value, policy: .reject)
        }
    }
}

/// A value for a layer, validated against a definition.
struct ValidatedEntry {
    let layer: LayerIndex
    let entry: StoredEntry
    let result: Result<Prepared, TweakError>

    init(_ layer: LayerIndex, _ entry: StoredEntry, for node: TweakNode, _ rules: LayerRules) {
        self.layer = layer
        self.entry = entry
        result = Result { () throws(TweakError) in try node.prepare(entry.content, rules).prepared }
    }

    var isSuccess: Bool { if case .success = result { true } else { false } }
}

/// A value that is invalid for the tweak's current definition and has no effect.
package struct QuarantinedEntry: Sendable {
    /// The layer that it is meant for.
    package let layer: TweakLayer
    let index: LayerIndex
    package let entry: StoredEntry
    /// The validation error.
    package let reason: TweakError
}

/// What is known of a tweak's layers beyond the values in use; most tweaks have none.
final class OverlayNotes: Sendable {
    /// Quarantined values.
    let quarantined: [QuarantinedEntry]
    /// The change of the underlying value since the override was set.
    let underlyingChange: (old: TweakValue, new: TweakValue)?

    /// Nil when there is nothing to record.
    init?(quarantined: [QuarantinedEntry], underlyingChange: (old: TweakValue, new: TweakValue)?) {
        if quarantined.isEmpty, underlyingChange == nil { return nil }
        self.quarantined = quarantined
        self.underlyingChange = underlyingChange
    }
}

// MARK: - Of unregistered tweaks

/// The pending values of one unregistered tweak, whose path the caller knows. Compact: a file can have many lines for
/// tweaks that never register.
struct PendingLayers: Sendable {
    private var first: (layer: LayerIndex, value: PendingValue)?
    /// Empty for most tweaks, and then without memory of its own.
    private var others: [(layer: LayerIndex, value: PendingValue)] = []

    init() {}

    var isEmpty: Bool { first == nil && others.isEmpty }

    /// Whether there is an override or a temporary override.
    var hasOverride: Bool { first?.layer.isOverride == true || others.contains { $0.layer.isOverride } }

    subscript(layer: LayerIndex) -> PendingValue? {
        get { first?.layer == layer ? first?.value : others.first { $0.layer == layer }?.value }
        set {
            if first?.layer == layer { first = nil }
            others.removeAll { $0.layer == layer }
            guard let newValue else { return }
            if first == nil { first = (layer, newValue) } else { others.append((layer, newValue)) }
        }
    }
}

/// A pending value: a line of a file, or any other.
enum PendingValue: Sendable {
    /// What the lines of one file have in common.
    final class File: Sendable {
        let source: ConfigEntry.Source
        let time: Moment

        init(_ source: ConfigEntry.Source, _ time: Moment) {
            self.source = source
            self.time = time
        }
    }

    /// The number is clamped; a file has fewer lines.
    case line(text: String, number: UInt32, File)
    indirect case entry(StoredEntry)

    func entry(_ path: TweakPath) -> StoredEntry {
        switch self {
        case .line(let text, let number, let file):
            StoredEntry(
                path: path, content: .text(text), origin: file.source.origin(line: Int(number)), time: file.time)
        case .entry(let entry): entry
        }
    }

    /// The text of a value that was given as text.
    var text: String? {
        switch self {
        case .line(let text, _, _): text
        case .entry(let entry): if case .text(let text) = entry.content { text } else { nil }
        }
    }

    /// Its size in memory, in bytes, with its place in a table that is a third full and the headers of two texts.
    func memorySize(_ path: TweakPath) -> Int {
        let text: Int =
            switch self {
            case .line(let text, _, _): text.utf8.count
            case .entry(let entry): entry.content.textBytes + entry.origin.description.utf8.count + 128
            }
        return 3 * (MemoryLayout<TweakPath>.stride + MemoryLayout<PendingLayers>.stride) + 64
            + path.joined.utf8.count + text
    }
}

extension StoredEntry.Content {
    fileprivate var textBytes: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .value(let value): value.textBytes ?? 0
        }
    }
}
