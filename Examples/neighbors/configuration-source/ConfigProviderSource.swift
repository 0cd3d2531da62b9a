// Makes a layer of tweaks from any provider of swift-configuration.

public import Configuration
import Foundation
import Synchronization
public import Tweaks

/// A provider as a source of values: a layer with its name and rank, which `explain` names.
///
/// ```swift
/// let file = try await ReloadingFileProvider<JSONSnapshot>(filePath: "/etc/api.json")
/// let source = ConfigProviderSource(file, TweakLayer("json file", rank: 110))
/// try TweakDaemon.start("api", sources: [TweakDaemon.Source(source)], tweaks: Settings.all)
/// ```
///
/// The provider is asked for the key of each tweak, by the type of its kind, and again after each of its snapshots. A
/// provider that reloads is a service, which the program runs. The command `reload`, and `SIGHUP`, make it look at once.
///
/// Each value is judged by itself: where one is bad, the tweak keeps the value before, and the log says why. A secret of
/// the provider is not given to a tweak that would show it.
public final class ConfigProviderSource: TweakValueSource {
    private struct State {
        var sink: TweakSourceSink?
        var snapshot: (any ConfigSnapshot)?
        /// The tweaks for which the registry has asked, with the last answer.
        var asked: [TweakPath: (tweak: AnyTweak, entry: TweakSourceEntry?)] = [:]
        var following: Task<Void, Never>?
    }

    /// The layer of its values.
    public let layer: TweakLayer
    private let provider: any ConfigProvider
    private let keys: [TweakPath: AbsoluteConfigKey]
    private let state = Mutex(State())

    /// A source from a provider.
    /// - Parameters:
    ///   - provider: The provider.
    ///   - layer: A name and a rank that no other source has: above the config file is 101 and more.
    ///   - keys: The keys of tweaks that have others than `http.client.maxAttempts` for `HTTP/Client/Max Attempts`.
    public init(_ provider: any ConfigProvider, _ layer: TweakLayer, keys: [TweakPath: AbsoluteConfigKey] = [:]) {
        self.provider = provider
        self.layer = layer
        self.keys = keys
    }

    /// Takes the provider's values of now; the registry asks for them.
    public func load(_ sink: TweakSourceSink) {
        let snapshot = provider.snapshot()
        state.withLock { ($0.sink, $0.snapshot) = (sink, snapshot) }
    }

    /// Follows the provider's snapshots.
    public func start(_ sink: TweakSourceSink) {
        let following = Task { [weak self, provider] in
            do {
                try await provider.watchSnapshot { snapshots in
                    for await snapshot in snapshots { self?.apply(snapshot, to: sink) }
                }
            } catch {
                sink.warn("\(provider.providerName): \(error); its last values stay until the program starts again")
            }
        }
        state.withLock { $0.following = following }
    }

    /// Ends that, and lets go of the sink, which holds this source.
    public func stop() {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        ended.following?.cancel()
    }

    /// Makes the provider look for changes, which arrive as a snapshot.
    public func reload() {
        guard let sink = state.withLock({ $0.sink }) else { return }
        Task { [provider] in
            // Fetching any key makes a reloading provider look at its file.
            do {
                _ = try await provider.fetchValue(forKey: AbsoluteConfigKey(["tweaks", "reload"]), type: .string)
            } catch {
                sink.warn("\(provider.providerName): \(error); the last good values stay, put it right")
            }
        }
    }

    /// The provider, for `stats`.
    public var status: [(name: String, value: TweakValue?)] { [("provider", .string(provider.providerName))] }

    /// The provider's value for a tweak that registers.
    public func entry(for path: TweakPath, of tweak: AnyTweak) -> TweakSourceEntry? {
        let (snapshot, sink) = state.withLock { state in
            // Before it is asked: a snapshot that arrives meanwhile finds it here.
            if state.asked[path] == nil { state.asked[path] = (tweak, nil) }
            return (state.snapshot, state.sink)
        }
        guard let snapshot, let sink else { return nil }
        let entry = judged(path, tweak, snapshot, sink) ?? nil
        state.withLock { $0.asked[path]?.entry = entry }
        return entry
    }

    /// Gives the sink what differs from the last answers.
    private func apply(_ snapshot: any ConfigSnapshot, to sink: TweakSourceSink) {
        let asked = state.withLock { state in
            if state.sink != nil { state.snapshot = snapshot }
            return state.asked
        }
        var changes: [TweakPath: TweakSourceEntry?] = [:]
        for (path, known) in asked {
            guard let new = judged(path, known.tweak, snapshot, sink), new != known.entry else { continue }
            changes[path] = .some(new)
        }
        if changes.isEmpty { return }
        state.withLock { state in
            for (path, entry) in changes { state.asked[path]?.entry = entry }
        }
        sink.update(changes)
    }

    /// The value for a tweak; the inner nil if the provider has none, the outer one if it has a bad one, which is logged.
    private func judged(
        _ path: TweakPath, _ tweak: AnyTweak, _ snapshot: any ConfigSnapshot, _ sink: TweakSourceSink
    ) -> TweakSourceEntry?? {
        let key = keys[path] ?? AbsoluteConfigKey(path)
        var problem: String?
        for type in tweak.kind.configTypes {
            do {
                let result = try snapshot.value(forKey: key, type: type)
                guard let value = result.value else { continue }
                if value.isSecret, !tweak.flags.contains(.secret) {
                    problem = "the value is secret, and the tweak would show it; declare it with flags: .secret"
                    break
                }
                return value.content.entry(tweak.kind, TweakOrigin(result.encodedKey))
            } catch {
                problem = problem ?? "\(error) Write \(tweak.kind.rawValue) values"
            }
        }
        guard let problem else { return .some(nil) }
        sink.warn("\(path): the \(layer) is not in effect: \(problem)")
        return nil
    }
}
