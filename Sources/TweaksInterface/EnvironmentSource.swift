// Takes values of tweaks from environment variables.

import Synchronization
import Tweaks

extension TweakDaemon.Source {
    /// Takes values from the environment: `TWEAK_LABEL_TEXT_SIZE=40` sets `Label/Text/Size`.
    ///
    /// ```swift
    /// try TweakDaemon.start("api", sources: [.environment()], tweaks: Settings.all)
    /// ```
    ///
    /// The variable of a tweak is the prefix and its path, with ASCII letters in capitals, digits as they are, and `_` for
    /// each other character. The value is a text without quotes, as `40`, `250ms` or `two words`. The layer is above the
    /// config file and below arguments and a fleet.
    ///
    /// A variable whose name fits two tweaks sets neither. The log names both, variables that fit no tweak, and bad
    /// values, where the next layer applies. Secrets can be set, and are never shown.
    /// - Parameter prefix: The beginning of the variables: letters, digits and `_`, and not the beginning of the daemon's
    ///   own, `TWEAKS_`. Another one fails the start.
    public static func environment(prefix: String = "TWEAK_") -> TweakDaemon.Source {
        TweakDaemon.Source { _, _ throws(ServerError) in try EnvironmentSource(prefix: prefix) }
    }
}

/// The environment as a source.
final class EnvironmentSource: TweakValueSource {
    /// The tweak that has taken a variable.
    private struct Claim {
        let path: TweakPath
        /// Whether another tweak has asked for the variable, too: then neither has it.
        var isShared = false
    }

    private struct State {
        var sink: TweakSourceSink?
        /// All variables with the prefix.
        var values: [String: String] = [:]
        var claims: [String: Claim] = [:]
    }

    private enum Answer {
        case value(String)
        case nothing
        /// The tweak that had the variable until now.
        case shared(with: TweakPath)
    }

    let layer = TweakLayer.environment
    private let prefix: String
    private let state = Mutex(State())

    init(prefix: String) throws(ServerError) {
        let isName = prefix.allSatisfy { $0 == "_" || Self.isAlphanumeric($0) }
        guard isName, let first = prefix.first, !first.isNumber else {
            throw ServerError(
                "the prefix \(Quoting.excerpt(prefix)) of environment variables: use letters, digits and “_”, and begin "
                    + "with a letter, as TWEAK_ does")
        }
        if "TWEAKS_".hasPrefix(prefix) || prefix.hasPrefix("TWEAKS_") {
            throw ServerError(
                "the prefix \(Quoting.excerpt(prefix)) of environment variables takes in those of the daemon, such as "
                    + "TWEAKS_CONFIG; use another one, as TWEAK_ is")
        }
        self.prefix = prefix
    }

    func load(_ sink: TweakSourceSink) {
        let values = sink.environment.filter { $0.key.hasPrefix(prefix) }
        state.withLock { state in
            state.sink = sink
            state.values = values
        }
    }

    func start(_ sink: TweakSourceSink) {
        let unused = state.withLock { state in state.values.keys.filter { state.claims[$0] == nil } }.sorted()
        if unused.isEmpty { return }
        let known = TweakView(sink.registry).listing.nodes.map { variable($0.path) }
        let listed = unused.prefix(Self.maxListed).map { name in
            let near = Spelling.nearest(to: name, among: known)
            return name + (near.map { " (did you mean \($0)?)" } ?? "")
        }
        let rest = unused.count > listed.count ? ", … and \(unused.count - listed.count) more" : ""
        sink.warn(
            "no tweak has taken \(listed.joined(separator: ", "))\(rest); \(variable("Label/Text/Size")) is for "
                + "Label/Text/Size: check the names, and unset what is not for this program")
    }

    /// The number of variables that one line of the log names.
    private static let maxListed = 20

    func entry(for path: TweakPath) -> TweakSourceEntry? {
        let variable = variable(path)
        switch take(variable, for: path) {
        case .nothing: return nil
        case .value(let text): return .text(text, origin: TweakOrigin(variable))
        case .shared(let other):
            let sink = state.withLock { $0.sink }
            sink?.update([other: nil])
            sink?.warn(
                "\(variable) fits both \(other.token) and \(path.token), and sets neither; rename one of them, or set "
                    + "them in the config file, and unset the variable")
            return nil
        }
    }

    /// Lets go of the sink, which holds this source, and of the values.
    func stop() {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        withExtendedLifetime(ended) {}
    }

    private func take(_ variable: String, for path: TweakPath) -> Answer {
        state.withLock { state in
            guard let text = state.values[variable] else { return .nothing }
            guard let claim = state.claims[variable] else {
                state.claims[variable] = Claim(path: path)
                return .value(text)
            }
            if claim.isShared { return .nothing }
            if claim.path == path { return .value(text) }
            state.claims[variable]?.isShared = true
            return .shared(with: claim.path)
        }
    }

    // MARK: Names

    private func variable(_ path: TweakPath) -> String { variable(path.joined) }

    /// The variable of a path.
    private func variable(_ path: String) -> String {
        prefix + String(path.map { Self.isAlphanumeric($0) ? $0 : "_" }).uppercased()
    }

    private static func isAlphanumeric(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }
}
