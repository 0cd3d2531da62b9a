// Defines which key of swift-configuration stands for which tweak.

public import Configuration
public import Tweaks

/// The tweaks of keys, and the keys of tweaks.
///
/// `http.client.maxAttempts` stands for `HTTP/Client/Max Attempts`: the first component of a key is the category, the
/// second one the collection, the others are the name. Letters and digits count, case and what separates words do not. A
/// key of two components is in the category `Config`, one alone in `Config/General`.
///
/// | key | path |
/// | --- | --- |
/// | `http.client.timeout` | `HTTP/Client/Timeout` |
/// | `http.client.retry.maxAttempts` | `HTTP/Client/Retry Max Attempts` |
/// | `server.port` | `Config/Server/Port` |
/// | `port` | `Config/General/Port` |
public struct TweakConfigKeys: Sendable {
    /// The paths of the other keys, by their components.
    let paths: [[String]: TweakPath]

    /// The rule, and tweaks that have other keys.
    ///
    /// ```swift
    /// let keys = TweakConfigKeys(["db.url": Database.url.path])
    /// ```
    /// - Parameter others: Keys that stand for these tweaks, beside those that the rule says.
    public init(_ others: [AbsoluteConfigKey: TweakPath] = [:]) {
        paths = Dictionary(others.map { ($0.key.components, $0.value) }) { first, _ in first }
    }

    /// The path of a new tweak for a key.
    /// - Throws: `TweakError` for a component that cannot be a part of a path, such as one with a slash.
    func path(for key: AbsoluteConfigKey) throws(TweakError) -> TweakPath {
        if let known = paths[key.components] { return known }
        let parts = Self.parts(key.components)
        return try TweakPath(parts[0], parts[1], parts[2...].joined(separator: " "))
    }

    /// A text that is the same for a tweak and for the components of its key.
    static func form(_ path: TweakPath) -> String { form([path.category, path.collection, path.name]) }

    private static let category = "Config"
    private static let collection = "General"

    static func form(_ components: [String]) -> String {
        let parts = parts(components).map { letters($0) }
        return "\(parts[0])/\(parts[1])/\(parts[2...].joined())"
    }

    /// At least three parts.
    private static func parts(_ components: [String]) -> [String] {
        switch components.count {
        case 0, 1: [category, collection, components.first ?? ""]
        case 2: [category] + components
        default: components
        }
    }

    private static func letters(_ part: String) -> String { part.lowercased().filter { $0.isLetter || $0.isNumber } }
}
