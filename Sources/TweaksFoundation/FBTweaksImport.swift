// Reads the values that FBTweaks kept in the user defaults, and sets them as overrides.

public import Foundation
public import Tweaks

/// What became of the values that FBTweaks kept; see `TweakRegistry.importFBTweaks(from:)`.
public struct FBTweaksImport: Sendable, CustomStringConvertible {
    /// The tweaks that have been set.
    public fileprivate(set) var imported: [TweakPath] = []
    /// The tweaks that have an override already, or the value anyway, and those that FBTweaks had reset.
    public fileprivate(set) var leftAlone: [TweakPath] = []
    /// Why values do not fit their tweaks, which have not been changed.
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
    /// FBTweaks' key is `FBTweak:Category-Collection-Name`. It is looked up for each tweak of the registry and for its path
    /// in earlier versions, `formerly:`, since a key with further hyphens could be of several paths. Numbers, texts, and
    /// archived ones and colors of UIKit are read; a number becomes a duration as seconds. A tweak that has an override keeps
    /// it, so that a second call changes nothing. The user defaults are not changed.
    ///
    /// In `history` and `explain` the origin is `FBTweaks`; `undo` takes all back.
    /// - Parameter defaults: The user defaults to read.
    /// - Returns: What became of each value.
    /// - Throws: `TweakError` with code `read-only` in a frozen process; then nothing has changed.
    @discardableResult
    public func importFBTweaks(from defaults: UserDefaults = .standard) throws(TweakError) -> FBTweaksImport {
        var report = FBTweaksImport()
        var stored = defaults.dictionaryRepresentation().filter { $0.key.hasPrefix(FBTweaksKey.prefix) }
        var values: [(tweak: AnyTweak, value: TweakValue)] = []
        for (key, owners) in FBTweaksKey.owners(in: self).sorted(by: { $0.key < $1.key }) {
            guard let object = stored.removeValue(forKey: key) else { continue }
            for tweak in owners {
                do throws(TweakError) {
                    if owners.count > 1 { throw tweak.conflict(key, owners) }
                    if let value = try tweak.importable(object) {
                        values.append((tweak, value))
                    } else {
                        report.leftAlone.append(tweak.path)
                    }
                } catch {
                    report.refused.append(error)
                }
            }
        }
        report.unknown = stored.keys.sorted()
        report.imported = values.map(\.tweak.path)
        if values.isEmpty { return report }
        try commit(origin: TweakOrigin("FBTweaks")) { batch in
            for (tweak, value) in values { batch.set(tweak, value) }
        }
        return report
    }
}

private enum FBTweaksKey {
    static let prefix = "FBTweak:"

    /// The tweaks of each key that FBTweaks would have used.
    static func owners(in registry: TweakRegistry) -> [String: [AnyTweak]] {
        var owners: [String: [AnyTweak]] = [:]
        for tweak in registry.categories.flatMap(\.collections).flatMap(\.tweaks) {
            let paths = [tweak.path] + tweak.node.formerly
            let keys = paths.map { "\(prefix)\($0.category)-\($0.collection)-\($0.name)" }
            for key in Set(keys) { owners[key, default: []].append(tweak) }
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

    /// What FBTweaks stored as a property list, or later in an archive; nil for the archive of nil, which a reset left.
    private func plain(_ object: Any) throws(TweakError) -> Any? {
        guard let data = object as? Data else { return object }
        do {
            // Linux's Foundation stops the program for an object of another class.
            guard ArchivedColor.isKnown(data) else { throw CocoaError(.coderReadCorrupt) }
            let archive = try NSKeyedUnarchiver(forReadingFrom: data)
            defer { archive.finishDecoding() }
            archive.requiresSecureCoding = true
            archive.decodingFailurePolicy = .setErrorAndReturn
            archive.setClass(ArchivedColor.self, forClassName: "UIColor")
            let classes: [AnyClass] = [NSNumber.self, NSString.self, ArchivedColor.self]
            let value = archive.decodeObject(of: classes, forKey: NSKeyedArchiveRootObjectKey)
            if let error = archive.error { throw error }
            return value
        } catch {
            throw refusal("its archive holds neither a number, a text nor a color; set it by hand")
        }
    }

    /// The value of a number, a text or a color; validation judges whether it fits.
    private func value(of object: Any) throws(TweakError) -> TweakValue {
        if let color = object as? ArchivedColor { return .color(color.color) }
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

/// Takes the place of UIKit's color in archives. Not private: archives find classes by their names.
final class ArchivedColor: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let color: TweakColor

    /// Whether an archive has no objects but numbers and texts, which it holds without a class, and colors.
    static func isKnown(_ archive: Data) -> Bool {
        let list = try? PropertyListSerialization.propertyList(from: archive, format: nil)
        guard let objects = (list as? [String: Any])?["$objects"] as? [Any] else { return false }
        let classes = objects.compactMap { ($0 as? [String: Any])?["$classname"] as? String }
        return classes.allSatisfy { ["UIColor", "NSString", "NSMutableString", "NSNumber"].contains($0) }
    }

    init?(coder: NSCoder) {
        let isGray = coder.containsValue(forKey: "UIWhite")
        guard isGray || coder.containsValue(forKey: "UIRed") else { return nil }
        let names = isGray ? ["UIWhite", "UIWhite", "UIWhite"] : ["UIRed", "UIGreen", "UIBlue"]
        let channels = names.map { coder.decodeDouble(forKey: $0) }
        let alpha = coder.containsValue(forKey: "UIAlpha") ? coder.decodeDouble(forKey: "UIAlpha") : 1
        color = TweakColor(red: channels[0], green: channels[1], blue: channels[2], alpha: alpha)
    }

    func encode(with coder: NSCoder) {}
}
