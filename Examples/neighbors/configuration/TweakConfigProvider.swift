// Gives the values of tweaks to programs that read swift-configuration.

public import Configuration
import Foundation
import Synchronization
public import Tweaks

/// The tweaks of a registry as a provider: a program that reads a `ConfigReader` gets values that can be edited while it
/// runs.
///
/// ```swift
/// let tweaks = TweakConfigProvider()
/// let config = ConfigReader(providers: [tweaks, EnvironmentVariablesProvider()], accessReporter: tweaks)
/// let timeout = config.double(forKey: "http.client.timeout", default: 15)
/// ```
///
/// As the reader's access reporter it also declares tweaks: a key that has none gets one when it is read first, whose
/// default is the value that was read, also one that a file had then. A tweak that is declared in code has a default of
/// its own, a range and a help text. Once there is a tweak, the providers after this one are not asked for its key: what
/// they should still change is opened as a source, by ``ConfigProviderSource``. The first thousand keys are declared.
///
/// Snapshots are of one revision. Watchers get each change of any type; a slow one gets the newest. Figures can be read,
/// and do not wake watchers. Secrets are secret. A value of another type throws, as in a file: a reader with a default
/// has that then.
public final class TweakConfigProvider: ConfigProvider, AccessReporter {
    /// `TweakConfigProvider`.
    public let providerName = "TweakConfigProvider"
    private let registry: TweakRegistry
    private let keys: TweakConfigKeys
    private let secrets: SecretsSpecifier<AbsoluteConfigKey, ConfigValue>
    private let index: Mutex<TweakConfigIndex>
    private let most: Int
    private let declared = Atomic(0)
    private let wakers = Wakers()
    private let following: Task<Void, Never>

    /// A provider of a registry.
    /// - Parameters:
    ///   - registry: The registry.
    ///   - keys: Which key stands for which tweak.
    ///   - secrets: Which keys are declared as secrets, beside those that the reader or a provider says are secret.
    ///   - most: How many keys are declared at most when they are read; later ones are read all the same.
    public init(
        _ registry: TweakRegistry = .shared, keys: TweakConfigKeys = TweakConfigKeys(),
        secrets: SecretsSpecifier<AbsoluteConfigKey, ConfigValue> = .none, declaring most: Int = 1_000
    ) {
        self.registry = registry
        self.keys = keys
        self.secrets = secrets
        self.most = most
        index = Mutex(TweakConfigIndex(registry, keys))
        // It follows from here on, and not from when the task begins.
        let changes = registry.changes.makeAsyncIterator()
        following = Task { [wakers] in
            var changes = changes
            while await changes.next() != nil { wakers.wake() }
        }
    }

    deinit { following.cancel() }

    private var currentIndex: TweakConfigIndex {
        let known = index.withLock { $0 }
        if known.generation == registry.generation { return known }
        let new = TweakConfigIndex(registry, keys, known)
        index.withLock { $0 = new }
        return new
    }

    // MARK: Reading

    /// The value of the key's tweak.
    /// - Throws: For a tweak of another type, and for a key that fits several tweaks.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try currentIndex.value(key, type) { $0.value }
    }

    /// The same: the registry is the authority.
    public func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        try value(forKey: key, type: type)
    }

    /// All tweaks at one revision.
    public func snapshot() -> any ConfigSnapshot {
        TweakConfigSnapshot(providerName: providerName, index: currentIndex, values: registry.snapshot())
    }

    /// The value of the key's tweak, then its changes.
    nonisolated(nonsending) public func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler:
            nonisolated(nonsending) (
                ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
            ) async throws -> Return
    ) async throws -> Return {
        let waker = wakers.add()
        defer { wakers.remove(waker.id) }
        let last = LastResult()
        let updates = waker.signals.compactMap { [self] in
            last.replace(with: Result { try value(forKey: key, type: type) })
        }
        return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
    }

    /// All tweaks at one revision, then after each commit.
    nonisolated(nonsending) public func watchSnapshot<Return: ~Copyable>(
        updatesHandler:
            nonisolated(nonsending) (
                ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>
            ) async throws -> Return
    ) async throws -> Return {
        let waker = wakers.add()
        defer { wakers.remove(waker.id) }
        return try await updatesHandler(ConfigUpdatesAsyncSequence(waker.signals.map { [self] in snapshot() }))
    }

    // MARK: Declaring

    /// Declares a tweak for a key that has none. A key that cannot be a path has no tweak; see `TweakConfigKeys`.
    public func report(_ event: AccessEvent) {
        let key = event.metadata.key
        guard event.conversionError == nil, case .success(let value?) = event.result, currentIndex.isMissing(key) else {
            return
        }
        // A key that is made at run time, of a user's name for one, would fill the registry.
        guard declared.load(ordering: .relaxed) < most else { return }
        let help = "Read at \(event.metadata.sourceLocation)"
        let flags: TweakFlags = value.isSecret || secrets.isSecret(key: key, value: value) ? .secret : []
        guard let path = try? keys.path(for: key), (try? declare(path, value, help: help, flags)) != nil else { return }
        declared.add(1, ordering: .relaxed)
        // A stored value of the new tweak takes effect without a commit.
        wakers.wake()
    }

    private func declare(_ path: TweakPath, _ value: ConfigValue, help: String, _ flags: TweakFlags) throws {
        let (category, collection, name) = (path.category, path.collection, path.name)
        func add<Value: TweakConvertible>(_ value: Value) throws {
            _ = try registry.register(category, collection, name, value, help: help, flags: flags)
        }
        func addList<Value: TweakContainer>(_ values: Value) throws {
            _ = try registry.register(category, collection, name, values, help: help, flags: flags)
        }
        switch value.content {
        case .bool(let value): try add(value)
        case .int(let value): try add(value)
        case .double(let value): try add(value)
        case .string(let value): try add(value)
        case .bytes(let value): try add(Data(value).base64EncodedString())
        case .boolArray(let values): try addList(values)
        case .intArray(let values): try addList(values)
        case .doubleArray(let values): try addList(values)
        case .stringArray(let values): try addList(values)
        case .byteChunkArray(let values): try addList(values.map { Data($0).base64EncodedString() })
        }
    }
}

/// The tweaks of a registry by their keys, at one generation.
struct TweakConfigIndex: Sendable {
    let generation: UInt64
    private let keys: TweakConfigKeys
    private let tweaks: [String: [AnyTweak]]
    /// The form of each path, which takes longer to make than to look up.
    private let forms: [TweakPath: String]

    /// - Parameter earlier: One of an earlier generation.
    init(_ registry: TweakRegistry, _ keys: TweakConfigKeys, _ earlier: TweakConfigIndex? = nil) {
        // Read first: what registers meanwhile is looked up again.
        generation = registry.generation
        self.keys = keys
        let all = registry.categories.flatMap(\.tweaks).filter { $0.kind != .action }
        var forms: [TweakPath: String] = [:]
        for tweak in all { forms[tweak.path] = earlier?.forms[tweak.path] ?? TweakConfigKeys.form(tweak.path) }
        self.forms = forms
        tweaks = Dictionary(grouping: all) { forms[$0.path] ?? "" }
    }

    func isMissing(_ key: AbsoluteConfigKey) -> Bool { find(key).isEmpty }

    private func find(_ key: AbsoluteConfigKey) -> [AnyTweak] {
        guard let path = keys.paths[key.components] else { return tweaks[TweakConfigKeys.form(key.components)] ?? [] }
        return tweaks[forms[path] ?? ""]?.filter { $0.path == path } ?? []
    }

    func value(
        _ key: AbsoluteConfigKey, _ type: ConfigType, _ read: (AnyTweak) -> TweakValue?
    ) throws(ConfigProblem) -> LookupResult {
        let found = find(key)
        guard let tweak = found.first else {
            return LookupResult(encodedKey: key.description, value: nil)
        }
        if found.count > 1 {
            let paths = found.map(\.path.joined).joined(separator: " and ")
            throw ConfigProblem("\(key) fits \(paths); name the key of each in TweakConfigKeys")
        }
        guard let value = read(tweak), value != .notSet else {
            return LookupResult(encodedKey: tweak.path.joined, value: nil)
        }
        guard let content = value.content(type) else {
            throw ConfigProblem(
                "\(tweak.path) is of the kind \(tweak.kind.rawValue), and \(key) is read as \(type.rawValue); read it by "
                    + "a type that fits, or declare another kind")
        }
        let isSecret = tweak.flags.contains(.secret)
        return LookupResult(encodedKey: tweak.path.joined, value: ConfigValue(content, isSecret: isSecret))
    }
}

/// All tweaks at one revision.
private struct TweakConfigSnapshot: ConfigSnapshot {
    let providerName: String
    let index: TweakConfigIndex
    let values: TweakSnapshot

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try index.value(key, type) { values[$0] }
    }
}

/// The watchers that sleep until the next change.
private final class Wakers: Sendable {
    private struct State {
        var next = 0
        var all: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Mutex(State())

    /// A sequence that begins at once, and goes on after each change; changes that come before a reader are one.
    func add() -> (id: Int, signals: AsyncStream<Void>) {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let id = state.withLock { state in
            state.next += 1
            state.all[state.next] = continuation
            return state.next
        }
        return (id, signals)
    }

    func remove(_ id: Int) { _ = state.withLock { $0.all.removeValue(forKey: id) } }

    func wake() {
        for continuation in state.withLock({ Array($0.all.values) }) { continuation.yield() }
    }
}

/// The last result of a watcher, which is given each one once.
private final class LastResult: Sendable {
    private let last = Mutex<Result<LookupResult, any Error>?>(nil)

    /// The new result; nil if it is the same as before.
    func replace(with new: Result<LookupResult, any Error>) -> Result<LookupResult, any Error>? {
        last.withLock { last in
            defer { last = new }
            return switch (last, new) {
            case (.success(let old), .success(let new)) where old == new: nil
            case (.failure(let old), .failure(let new)) where "\(old)" == "\(new)": nil
            default: new
            }
        }
    }
}
