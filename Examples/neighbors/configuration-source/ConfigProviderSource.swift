// Makes a layer of tweaks from any provider of swift-configuration.

public import Configuration
public import Dispatch
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
/// provider that reloads is a service, which the program runs. The command `reload`, and `SIGHUP`, make it look at once,
/// and wait for what it finds. A key of a former path counts where the present one has no value.
///
/// Each value is judged by itself: where one is bad, the tweak keeps the value before, and the log says why. A secret of
/// the provider is not given to a tweak that would show it.
public final class ConfigProviderSource: TweakValueSource {
    private struct State {
        var sink: TweakSourceSink?
        var snapshot: (any ConfigSnapshot)?
        /// The tweaks for which the registry has asked, by their present paths.
        var asked: [TweakPath: Asked] = [:]
        var following: Task<Void, Never>?
    }

    private struct Asked {
        let tweak: AnyTweak
        /// The paths that the registry has asked for: the present one, then former ones.
        var paths: [TweakPath] = []
        /// The last answer.
        var entry: TweakSourceEntry?
    }

    /// Runs one body after the other, so that an older snapshot never comes after a newer one.
    private actor Turns {
        func take(_ body: @Sendable () -> Void) { body() }
    }

    /// The layer of its values.
    public let layer: TweakLayer
    private let provider: any ConfigProvider
    private let keys: [TweakPath: AbsoluteConfigKey]
    private let reloadTime: DispatchTimeInterval
    private let turns = Turns()
    private let state = Mutex(State())

    /// A source from a provider.
    /// - Parameters:
    ///   - provider: The provider.
    ///   - layer: A name and a rank that no other source has: above the config file is 101 and more.
    ///   - keys: The keys of tweaks that have others than `http.client.maxAttempts` for `HTTP/Client/Max Attempts`.
    ///   - reloadTime: How long a reload waits for the provider; what comes later applies then.
    public init(
        _ provider: any ConfigProvider, _ layer: TweakLayer, keys: [TweakPath: AbsoluteConfigKey] = [:],
        reloadTime: DispatchTimeInterval = .seconds(2)
    ) {
        self.provider = provider
        self.layer = layer
        self.keys = keys
        self.reloadTime = reloadTime
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
                    for await _ in snapshots { await self?.update(sink) }
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

    /// Makes the provider look for changes, and waits until they apply. Not to be called by a task, whose thread the
    /// provider may need.
    public func reload() {
        guard let sink = state.withLock({ $0.sink }) else { return }
        let isDone = DispatchSemaphore(value: 0)
        Task { [self] in
            // Fetching any key makes a reloading provider look at its file.
            do {
                _ = try await provider.fetchValue(forKey: AbsoluteConfigKey(["tweaks", "reload"]), type: .string)
                await update(sink)
            } catch {
                sink.warn("\(provider.providerName): \(error); the last good values stay, put it right")
            }
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + reloadTime)
    }

    /// The provider, for `stats`.
    public var status: [(name: String, value: TweakValue?)] { [("provider", .string(provider.providerName))] }

    /// The provider's value for a tweak that registers.
    public func entry(for path: TweakPath, of tweak: AnyTweak) -> TweakSourceEntry? {
        let (snapshot, sink) = state.withLock { state in
            // Before it is asked: a snapshot that arrives meanwhile finds it here.
            var asked = state.asked[tweak.path] ?? Asked(tweak: tweak)
            if !asked.paths.contains(path) { asked.paths.append(path) }
            state.asked[tweak.path] = asked
            return (state.snapshot, state.sink)
        }
        guard let snapshot, let sink else { return nil }
        let entry = judged(path, tweak, snapshot, sink) ?? nil
        // The registry asks for former paths only while there is no value.
        state.withLock { $0.asked[tweak.path]?.entry = entry }
        return entry
    }

    private func update(_ sink: TweakSourceSink) async {
        await turns.take { [self] in apply(provider.snapshot(), to: sink) }
    }

    /// Gives the sink what differs from the last answers.
    private func apply(_ snapshot: any ConfigSnapshot, to sink: TweakSourceSink) {
        let asked = state.withLock { state in
            if state.sink != nil { state.snapshot = snapshot }
            return state.asked
        }
        var changes: [TweakPath: TweakSourceEntry?] = [:]
        for (path, known) in asked {
            guard let new = judged(known, snapshot, sink), new != known.entry else { continue }
            changes[path] = .some(new)
        }
        if changes.isEmpty { return }
        state.withLock { state in
            for (path, entry) in changes { state.asked[path]?.entry = entry }
        }
        sink.update(changes)
    }

    /// The value under the first path that has one, as the registry asks; the outer nil if that is a bad one.
    private func judged(
        _ asked: Asked, _ snapshot: any ConfigSnapshot, _ sink: TweakSourceSink
    ) -> TweakSourceEntry?? {
        for path in asked.paths {
            guard let entry = judged(path, asked.tweak, snapshot, sink) else { return nil }
            if let entry { return entry }
        }
        return .some(nil)
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
