// Defines the layers of a value: default, config file, fleet, override, temporary override.

/// The layers of a tweak, lowest first; the highest one present is the current value.
public enum TweakLayer: Int, Hashable, Sendable, Comparable, CaseIterable, CustomStringConvertible {
    /// The default from the declaration.
    case `default`
    /// The value from the config file.
    case configFile
    /// The value that the fleet assigns to this process.
    case fleet
    /// A value that was set at run time.
    case override
    /// A value that was set at run time and expires.
    case temporaryOverride

    /// `default`, `config file`, `fleet`, `override` or `temporary override`.
    public var description: String {
        switch self {
        case .default: "default"
        case .configFile: "config file"
        case .fleet: "fleet"
        case .override: "override"
        case .temporaryOverride: "temporary override"
        }
    }

    /// Orders by precedence.
    public static func < (left: TweakLayer, right: TweakLayer) -> Bool { left.rawValue < right.rawValue }
}

/// One layer of a tweak as `explain` shows it.
public struct TweakLayerValue: Sendable {
    /// Which layer.
    public let layer: TweakLayer
    /// Its value.
    public let value: TweakValue
    /// Who set it.
    public let origin: TweakOrigin
    /// When it was set.
    public let time: ContinuousClock.Instant
    /// When it expires; nil unless it is a temporary override.
    public let expires: ContinuousClock.Instant?
    /// Whether the value must not be shown.
    public let isSecret: Bool
}

extension TweakLayerValue: CustomStringConvertible, CustomReflectable {
    /// `override 72 by uid 1000`; without the value of a secret.
    public var description: String { "\(layer) \(isSecret ? "(secret)" : value.text) by \(origin)" }

    /// Contains the description only, so that dumping the value reveals no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A value that is validated and converted, ready to be stored.
package struct Prepared: Sendable {
    package let value: TweakValue
    /// The value in the form that the tweak's cell stores.
    let typed: TypedValue
}

/// A value in its Swift type. Most types fit a word, which is copied without runtime calls; others are boxed, so that
/// copying stays cheap.
struct TypedValue: Sendable {
    /// A box for a value that does not fit a word.
    final class Object: Sendable {
        let value: any Sendable
        /// The index in the cell's list of choices; nil for other values.
        let position: Int?

        fileprivate init(_ value: any Sendable, position: Int?) { (self.value, self.position) = (value, position) }
    }

    let word: UInt64
    /// Nil if the word is the value.
    let object: Object?

    static func word(_ word: UInt64) -> TypedValue { TypedValue(word: word, object: nil) }

    static func object(_ value: any Sendable, position: Int? = nil) -> TypedValue {
        TypedValue(word: 0, object: Object(value, position: position))
    }

    /// The value; nil if it has another type.
    func value<Value: TweakStorable>(as type: Value.Type) -> Value? {
        if let object { object.value as? Value } else { Value.tweakValue(ofWord: word) }
    }
}

/// The layers above a tweak's default, lowest first.
struct Overlays: Sendable {
    struct Entry: Sendable {
        let layer: TweakLayer
        var prepared: Prepared
        var origin: TweakOrigin
        var moment: Moment
        /// When it expires; nil unless it is a temporary override.
        var end: Moment?

        var time: ContinuousClock.Instant { moment.instant }
        var expires: ContinuousClock.Instant? { end?.instant }
    }

    private(set) var entries: [Entry] = []
    /// The revision of the last commit that touched this tweak.
    var changedAt: UInt64 = 0
    /// Information from files beyond the values in use.
    var notes: OverlayNotes?

    var top: Prepared? { entries.last?.prepared }

    // Accessed by index: copying the last entry would cost more than reading one property.

    /// When the current value expires.
    var end: Moment? { entries.isEmpty ? nil : entries[entries.count - 1].end }
    var expires: ContinuousClock.Instant? { end?.instant }

    /// The highest layer; nil without any.
    var topLayer: TweakLayer? { entries.isEmpty ? nil : entries[entries.count - 1].layer }

    /// The highest layer and its origin; nil without any.
    var source: (layer: TweakLayer, origin: TweakOrigin)? {
        entries.isEmpty ? nil : (entries[entries.count - 1].layer, entries[entries.count - 1].origin)
    }

    /// Whether there is an override, permanent or temporary.
    var isSet: Bool { topLayer.map { $0 >= .override } ?? false }

    /// The highest layer below the overrides; nil if that is the default.
    var underlying: Entry? { self[.fleet] ?? self[.configFile] }

    /// Whether a file has an invalid value for a layer.
    func hasQuarantined(_ layer: TweakLayer) -> Bool { notes?.quarantined.contains { $0.layer == layer } ?? false }

    subscript(layer: TweakLayer) -> Entry? { position(of: layer).map { entries[$0] } }

    private func position(of layer: TweakLayer) -> Int? {
        for position in entries.indices where entries[position].layer == layer { return position }
        return nil
    }

    mutating func set(_ entry: Entry) {
        if let position = position(of: entry.layer) {
            entries[position] = entry
        } else {
            entries.insert(entry, at: entries.firstIndex { $0.layer > entry.layer } ?? entries.count)
        }
    }

    /// Sets the override and ends a temporary one. Returns false if nothing changed.
    mutating func override(_ prepared: Prepared, origin: TweakOrigin, at moment: Moment) -> Bool {
        // Fast path: the override is on top.
        if let last = entries.indices.last, entries[last].layer == .override {
            if entries[last].prepared.value == prepared.value { return false }
            entries[last].prepared = prepared
            entries[last].origin = origin
            entries[last].moment = moment
            return true
        }
        set(Entry(layer: .override, prepared: prepared, origin: origin, moment: moment))
        remove(.temporaryOverride)
        return true
    }

    /// Removes override and temporary override. Returns false if there were none.
    mutating func reset() -> Bool {
        let count = entries.count
        remove(.override)
        remove(.temporaryOverride)
        return entries.count < count
    }

    /// Removes a layer. Returns false if it is absent.
    @discardableResult
    mutating func remove(_ layer: TweakLayer) -> Bool {
        guard let position = position(of: layer) else { return false }
        entries.remove(at: position)
        return true
    }
}

extension Overlays.Entry {
    init(
        layer: TweakLayer, prepared: Prepared, origin: TweakOrigin, time: ContinuousClock.Instant,
        expires: ContinuousClock.Instant? = nil
    ) {
        self.init(
            layer: layer, prepared: prepared, origin: origin, moment: Moment(time), end: expires.map { Moment($0) })
    }
}
