// Reads the values that FBTweaks kept in the user defaults, and sets them as overrides.

public import Foundation
public import Tweaks

/// A report on the values that FBTweaks kept, from `TweakRegistry.importFBTweaks(from:)`.
public struct FBTweaksImport: Sendable, CustomStringConvertible {
    /// The tweaks that have been set.
    public fileprivate(set) var imported: [TweakPath] = []
    /// The tweaks that have an override already, or the value anyway, those that FBTweaks had reset, and the former paths
    /// whose values a later path's take the place of.
    public fileprivate(set) var leftAlone: [TweakPath] = []
    /// The errors of values that do not fit their tweaks, which have not been changed.
    public fileprivate(set) var refused: [TweakError] = []
    /// The keys of which no tweak is registered.
    public fileprivate(set) var unknown: [String] = []

    /// One line for each value: `imported Content/Text/Size`.
    public var description: String {
        let lines =
            imported.map { "imported \($0)" } + leftAlone.map { "left alone \($0)" }
            + refused.map { "refused \($0.message)" } + unknown.map { "unknown \($0)" }
        return lines.joined(separator: "\n")
    }
}

extension TweakRegistry {
    /// Sets the values that FBTweaks kept in the user defaults as overrides, in one commit.
    ///
    /// Call it once, after the tweaks are declared and `TweakDaemon.start` has loaded the overrides:
    ///
    /// ```swift
    /// print(try TweakRegistry.shared.importFBTweaks())
    /// ```
    /// FBTweaks' key is `FBTweak:Category-Collection-Name`. It is looked up for each tweak of the registry, since a key
    /// with further hyphens could be of several paths, and where it is absent, that of its path in earlier versions,
    /// `formerly:`. Numbers, texts, and archived ones and colors of UIKit are read; a number becomes a duration as seconds.
    /// A tweak that has an override keeps it, so that a second call changes nothing. The user defaults are not changed.
    ///
    /// In `history` and `explain` the origin is `FBTweaks`; `undo` takes all back.
    /// - Parameter defaults: The user defaults to read.
    /// - Returns: A report that names each value.
    /// - Throws: `TweakError` with code `read-only` in a frozen process; then nothing has changed.
    @discardableResult
    public func importFBTweaks(from defaults: UserDefaults = .standard) throws(TweakError) -> FBTweaksImport {
        var report = FBTweaksImport()
        let stored = defaults.dictionaryRepresentation().filter { $0.key.hasPrefix(FBTweaksKey.prefix) }
        let tweaks = categories.flatMap(\.collections).flatMap(\.tweaks)
        let owners = FBTweaksKey.owners(tweaks)
        var values: [(tweak: AnyTweak, value: TweakValue)] = []
        for tweak in tweaks {
            let found = FBTweaksKey.all(of: tweak).compactMap { key in stored[key.text].map { (key, $0) } }
            guard let (key, object) = found.first else { continue }
            report.leftAlone += found.dropFirst().map(\.0.path)
            do throws(TweakError) {
                if let others = owners[key.text], others.count > 1 { throw tweak.conflict(key.text, others) }
                if let value = try tweak.importable(object) {
                    values.append((tweak, value))
                } else {
                    report.leftAlone.append(tweak.path)
                }
            } catch {
                report.refused.append(error)
            }
        }
        report.unknown = stored.keys.filter { owners[$0] == nil }.sorted()
        report.imported = values.map(\.tweak.path)
        if values.isEmpty { return report }
        try commit(origin: TweakOrigin("FBTweaks")) { batch in
            for (tweak, value) in values { batch.set(tweak, value) }
        }
        return report
    }
}

/// The key that FBTweaks would have used for a path.
private struct FBTweaksKey {
    static let prefix = "FBTweak:"
    let path: TweakPath
    var text: String { "\(Self.prefix)\(path.category)-\(path.collection)-\(path.name)" }

    /// The key of a tweak's path, and those of its former paths.
    static func all(of tweak: AnyTweak) -> [FBTweaksKey] {
        var texts: Set<String> = []
        return ([tweak.path] + tweak.node.formerly).map(FBTweaksKey.init).filter { texts.insert($0.text).inserted }
    }

    /// The tweaks of each key.
    static func owners(_ tweaks: [AnyTweak]) -> [String: [AnyTweak]] {
        var owners: [String: [AnyTweak]] = [:]
        for tweak in tweaks {
            for key in all(of: tweak) { owners[key.text, default: []].append(tweak) }
        }
        return owners
    }
}

extension AnyTweak {
    fileprivate func conflict(_ key: String, _ owners: [AnyTweak]) -> TweakError {
        let others = owners.map(\.path).filter { $0 != path }.map(\.description).joined(separator: ", ")
        return refusal("the key \(key) is also that of \(others); set it by hand")
    }

    fileprivate func refusal(_ reason: String) -> TweakError {
        TweakError(.badValue, "\(path): \(reason)", path: path)
    }

    /// The valid value for what FBTweaks has stored; nil if the tweak is to be left alone.
    fileprivate func importable(_ object: Any) throws(TweakError) -> TweakValue? {
        if kind == .action { throw refusal("it is an action and has no value") }
        if flags.contains(.readOnly) { throw refusal("it is a figure, which only the program sets") }
        if layers.contains(where: { $0.layer.isOverride }) { return nil }
        guard let object = try plain(object) else { return nil }
        let value = try node.prepare(try self.value(of: object)).prepared.value
        return value == self.value ? nil : value
    }

    /// The value that FBTweaks stored as a property list, or later in an archive; nil for the archive of nil, which a reset left.
    private func plain(_ object: Any) throws(TweakError) -> Any? {
        guard let data = object as? Data else { return object }
        switch Archive(data) {
        case .nothing: return nil
        case .object(let object): return object
        case nil: throw refusal("its archive holds neither a number, a text nor a color; set it by hand")
        }
    }

    /// The value of a number, a text or a color; validation judges whether it fits.
    private func value(of object: Any) throws(TweakError) -> TweakValue {
        if let color = object as? TweakColor { return .color(color) }
        if let text = object as? String { return try node.read(text, from: .file) }
        guard let number = object as? NSNumber else { throw refusal("a \(type(of: object)) is stored; set it by hand") }
        let double = number.asWritten
        switch kind == .optional ? node.definition.component?.kind ?? kind : kind {
        case .bool where double == 0 || double == 1: return .bool(double == 1)
        case .int:
            let unsigned = UInt64(exactly: number).flatMap { TweakValue(whole: $0) }
            return Int64(exactly: number).map(TweakValue.int) ?? unsigned ?? .number(double)
        case .duration:
            guard let nanoseconds = Int64(exactly: (double * 1e9).rounded()) else {
                throw refusal("\(double) seconds do not fit in 64 bits of nanoseconds")
            }
            return .duration(.nanoseconds(nanoseconds))
        case .choice: return .choice(TweakValue.shortest(double))
        default: return .number(double)
        }
    }
}

extension NSNumber {
    /// The double; that of 0.1 for a single-precision 0.1.
    fileprivate var asWritten: Double {
        let single = Float(doubleValue)
        return Double(single) == doubleValue ? Double("\(single)") ?? doubleValue : doubleValue
    }
}

/// The contents of an archive of `NSKeyedArchiver` with one number, text or color of UIKit.
///
/// It is read as the property list that it is: an unarchiver of Linux's Foundation stops the program for an archive that is
/// not well-formed.
private enum Archive {
    case nothing
    case object(Any)

    init?(_ data: Data) {
        let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        // The archiver writes the root right after the object that stands for nil.
        guard let list, list["$archiver"] as? String == "NSKeyedArchiver",
            (list["$top"] as? [String: Any])?.keys.first == NSKeyedArchiveRootObjectKey,
            let objects = list["$objects"] as? [Any], objects.first as? String == "$null"
        else { return nil }
        guard objects.count > 1 else {
            self = .nothing
            return
        }
        let classes = objects.compactMap { ($0 as? [String: Any])?["$classname"] as? String }
        guard let object = Self.object(objects[1], of: classes) else { return nil }
        self = .object(object)
    }

    /// Numbers and most texts have no class in archives.
    private static func object(_ root: Any, of classes: [String]) -> Any? {
        if root is String || root is NSNumber { return root }
        guard let root = root as? [String: Any] else { return nil }
        switch classes {
        case ["NSString"], ["NSMutableString"]: return root["NS.string"] as? String
        case ["UIColor"]: return color(root)
        default: return nil
        }
    }

    private static func color(_ root: [String: Any]) -> TweakColor? {
        let isGray = root["UIWhite"] != nil
        let names = isGray ? ["UIWhite", "UIWhite", "UIWhite"] : ["UIRed", "UIGreen", "UIBlue"]
        let channels = names.compactMap { (root[$0] as? NSNumber)?.doubleValue }
        guard channels.count == 3, let alpha = (root["UIAlpha"] ?? 1.0) as? NSNumber else { return nil }
        return TweakColor(red: channels[0], green: channels[1], blue: channels[2], alpha: alpha.doubleValue)
    }
}
