// Defines the layers of a value as data: a name, a rank, and what the layer's source may do.

/// A layer of a tweak: of the layers that have a value for it, the one with the highest rank is the current one.
///
/// A program's own source of values has a layer of its own:
///
/// ```swift
/// let layer = TweakLayer("feature service", rank: 350)      // above arguments, below a fleet
/// ```
public struct TweakLayer: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name that `explain` and replies show: `config file`.
    public let name: String
    /// The precedence; a higher rank wins.
    public let rank: Int

    /// A layer for a source of values, checked when the source is opened.
    /// - Parameters:
    ///   - name: 1 to 18 lowercase letters, digits and spaces, beginning with a letter; it contains neither the name of
    ///     another layer of this type nor “override”.
    ///   - rank: 1 to 999, and no other source's. Config file 100, environment 200, arguments 300, fleet 400.
    public init(_ name: String, rank: Int) {
        self.name = name
        self.rank = rank
    }

    /// The default from the declaration.
    public static let `default` = TweakLayer("default", rank: 0)
    /// The value from the config file.
    public static let configFile = TweakLayer("config file", rank: 100)
    /// The value from an environment variable.
    public static let environment = TweakLayer("environment", rank: 200)
    /// The value from the command line.
    public static let arguments = TweakLayer("arguments", rank: 300)
    /// The value that the fleet assigns to this process.
    public static let fleet = TweakLayer("fleet", rank: 400)
    /// A value that was set at run time.
    public static let override = TweakLayer("override", rank: 1_000)
    /// A value that was set at run time and expires.
    public static let temporaryOverride = TweakLayer("temporary override", rank: 1_001)
    /// A value that a preview shows for a few seconds; it is no override, and nothing remembers it.
    public static let preview = TweakLayer("preview", rank: 1_002)

    /// Whether it is the override or the temporary override, which only commits change.
    public var isOverride: Bool { self == .override || self == .temporaryOverride }

    /// The name.
    public var description: String { name }

    /// Orders by precedence.
    public static func < (left: TweakLayer, right: TweakLayer) -> Bool {
        left.rank == right.rank ? left.name < right.name : left.rank < right.rank
    }
}

/// The value of one layer of a tweak, as `explain` shows it.
public struct TweakLayerValue: Sendable {
    /// Which layer.
    public let layer: TweakLayer
    /// Its value.
    public let value: TweakValue
    /// Who set it.
    public let origin: TweakOrigin
    /// When it was set.
    public var time: ContinuousClock.Instant { moment.instant }
    /// When it expires; nil unless it is a temporary override.
    public var expires: ContinuousClock.Instant? { end?.instant }
    /// Whether the value must not be shown.
    public let isSecret: Bool
    package let moment: Moment
    package let end: Moment?
}

extension TweakLayerValue: CustomStringConvertible, CustomReflectable {
    /// `override 72 by uid 1000`; without the value of a secret.
    public var description: String { "\(layer) \(isSecret ? "(secret)" : value.text) by \(origin)" }

    /// Contains the description only, so that dumping the value reveals no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension TweakRegistry {
    /// The layers that have a value for a tweak, lowest first.
    func layers(_ node: TweakNode) -> [TweakLayerValue] {
        guard let value = node.defaultValue else { return [] }
        let (entries, layers, preview) = state.withLock { state in
            (state.holds(node) ? state.overlays[node.slot].entries : [], state.layers, state.preview)
        }
        let base = TweakLayerValue(
            layer: .default, value: value, origin: .code, isSecret: node.isSecret,
            moment: node.declaredAt, end: nil)
        return [base]
            + entries.map {
                TweakLayerValue(
                    layer: layers[$0.layer], value: $0.prepared.value, origin: $0.origin,
                    isSecret: node.isSecret, moment: $0.time, end: $0.end)
            }
            + [preview?.layer(of: node)].compactMap(\.self)
    }

    /// The layer of a value that has changed.
    package func layer(_ index: LayerIndex) -> TweakLayer {
        // No lock for the layers that every registry has.
        index.builtIn ?? layers[index]
    }
}

// MARK: - Within a registry

/// A layer within a registry; it never changes its meaning there.
package struct LayerIndex: Hashable, Sendable {
    fileprivate let raw: UInt8

    package static let `default` = LayerIndex(raw: 0)
    package static let preview = LayerIndex(raw: 253)
    package static let override = LayerIndex(raw: 254)
    package static let temporaryOverride = LayerIndex(raw: 255)

    /// Whether it is the override or the temporary override.
    var isOverride: Bool { raw >= LayerIndex.override.raw }

    fileprivate var builtIn: TweakLayer? {
        switch raw {
        case 0: .default
        case 1: .configFile
        case 2: .environment
        case 3: .arguments
        case 4: .fleet
        case 253: .preview
        case 254: .override
        case 255: .temporaryOverride
        default: nil
        }
    }
}

/// What the source of a layer may do.
struct LayerRules: Sendable {
    /// Why the layer takes no value for a secret, with the remedy; nil if it does.
    var secretRefusal: String?
    /// Whether a value that changes in the layer drops the override above it, if no other layer lies between them.
    var dropsOverrides = false
}

/// The layers of a registry.
package struct LayerTable: Sendable {
    private struct Row: Sendable {
        let layer: TweakLayer
        var rules = LayerRules()
    }

    /// By index, in the order in which the layers were added.
    private var rows: [Row] = [
        Row(layer: .default), Row(layer: .configFile), Row(layer: .environment),
        Row(
            layer: .arguments,
            rules: LayerRules(
                secretRefusal: "no value from the arguments, which other processes can read; set it in this process")),
        Row(
            layer: .fleet,
            rules: LayerRules(
                secretRefusal: "no value from a fleet; set it in this process, or in its config file")),
    ]
    /// The indices of the layers of sources, lowest rank first.
    private(set) var sources: [LayerIndex] = (1...4).map { LayerIndex(raw: $0) }

    package subscript(index: LayerIndex) -> TweakLayer {
        switch index {
        case .preview: .preview
        case .override: .override
        case .temporaryOverride: .temporaryOverride
        default: rows[Int(index.raw)].layer
        }
    }

    /// The rules of a source's layer.
    func rules(_ index: LayerIndex) -> LayerRules { index.isOverride ? LayerRules() : rows[Int(index.raw)].rules }

    mutating func setDropsOverrides(_ isOn: Bool, _ index: LayerIndex) {
        rows[Int(index.raw)].rules.dropsOverrides = isOn
    }

    /// The index of a layer of a source; nil if it is not in the table.
    func index(of layer: TweakLayer) -> LayerIndex? { sources.first { self[$0] == layer } }

    /// Whether a layer has a lower rank than another one.
    func precedes(_ left: LayerIndex, _ right: LayerIndex) -> Bool {
        if left.isOverride || right.isOverride { return left.raw < right.raw }
        return rows[Int(left.raw)].layer.rank < rows[Int(right.raw)].layer.rank
    }

    /// Adds the layer of a source, unless it is in the table.
    /// - Throws: `bad-value` for a name or rank that no source may have; `conflict` if another layer has it.
    mutating func add(_ layer: TweakLayer) throws(TweakError) -> LayerIndex {
        if let known = index(of: layer) { return known }
        try layer.check()
        let others = sources.map { self[$0] }
        if let other = others.first(where: { $0.rank == layer.rank || $0.name == layer.name }) {
            throw TweakError(
                .conflict,
                "the layer \(layer.name) of rank \(layer.rank) is too much like the layer \(other.name) of rank "
                    + "\(other.rank), of this or an earlier source; give each a name and a rank of its own")
        }
        guard rows.count < LayerIndex.preview.raw else {
            throw TweakError(.tooMany, "the layer \(layer.name) is one too many: a registry has at most 250")
        }
        let index = LayerIndex(raw: UInt8(rows.count))
        rows.append(Row(layer: layer))
        sources.insert(index, at: sources.firstIndex { precedes(index, $0) } ?? sources.count)
        return index
    }
}

extension TweakLayer {
    /// Checks a layer of a program's own source.
    fileprivate func check() throws(TweakError) {
        guard (1...999).contains(rank) else {
            throw TweakError(.outOfRange, "the layer \(shownName) has the rank \(rank); use one from 1 to 999")
        }
        let bytes = Array(name.utf8)
        let isPlain =
            (1...18).contains(bytes.count) && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[0])
            && bytes.allSatisfy { byte in
                byte == UInt8(ascii: " ") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
        guard isPlain else {
            throw TweakError(
                .badValue,
                "the layer name \(shownName) is not 1 to 18 of a–z, 0–9 and spaces with a letter first; rename it")
        }
        let reserved: [TweakLayer] = [
            .default, .configFile, .environment, .arguments, .fleet, .override, .preview,
        ]
        if let taken = reserved.first(where: { bytes.hasPart(Array($0.name.utf8)) }) {
            throw TweakError(
                .badValue, "the layer name \(shownName) contains \(taken.name), the name of another layer; rename it")
        }
    }

    private var shownName: String { Quoting.excerpt(name) }
}

extension [UInt8] {
    // `String.contains` would link the regular expressions.
    fileprivate func hasPart(_ part: [UInt8]) -> Bool {
        if part.count > count { return false }
        return (0...(count - part.count)).contains { self[$0...].starts(with: part) }
    }
}
