// A storage without a disk: what a registry notes, and what it is handed over.

import Synchronization
import Tweaks

/// Takes what is noted, and says that it is saved when a test says so.
final class StubStore: TweakStore {
    private let current = Mutex(SaveStatus(saved: 0, tried: 0))
    private let observers = Mutex<[Int: @Sendable (SaveStatus) -> Void]>([:])
    private let source = Mutex<(follower: CommitFollower, registry: WeakRegistry)?>(nil)
    private let last = Mutex(StoreBatch())
    private let wakes = Atomic(0)
    let isRequired = false
    let keepsHistory = false

    /// Becomes the storage of a registry.
    @discardableResult
    func attach(to registry: TweakRegistry, overrides: [StoredEntry], revision: UInt64) -> Bool {
        let follower = registry.attach(self, overrides: overrides, revision: revision) { [weak self] in
            self?.wakes.add(1, ordering: .relaxed)
        }
        guard let follower else { return false }
        source.withLock { $0 = (follower, WeakRegistry(registry)) }
        return true
    }

    func keep(_ last: StoreBatch) { self.last.withLock { $0 = last } }

    /// How often it was told that there is something to store.
    var wakeUps: Int { wakes.load(ordering: .relaxed) }

    var status: SaveStatus { current.withLock { $0 } }

    func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation {
        let id = observers.withLock { observers in
            let id = observers.count
            observers[id] = body
            return id
        }
        return StoreObservation { [weak self] in self?.observers.withLock { $0[id] = nil } }
    }

    func propose(_ changes: [OverrideKey: StoredEntry?], then body: @escaping @Sendable (String?) -> Void) { body(nil) }
    func withdraw(_ changes: [OverrideKey: StoredEntry?]) {}
    func hurry() {}
    func beginRound() {}
    func endRound() {}

    /// What the disk did.
    func finish(_ status: SaveStatus) {
        current.withLock { $0 = status }
        for observer in observers.withLock({ Array($0.values) }) { observer(status) }
    }

    /// What is to be stored since the last look: `PATH=VALUE by ORIGIN over COVERED`, sorted.
    func taken() -> [String] { takenBatch().changes.map(Self.words).sorted() }

    /// The same as it is; what was left where the registry is gone.
    func takenBatch() -> StoreBatch {
        let source = source.withLock(\.self)
        if let source, let batch = source.registry.value?.takeStored(source.follower, .nothing) { return batch }
        return last.withLock { last in
            defer { last = StoreBatch() }
            return last
        }
    }

    private static func words(_ key: OverrideKey, _ entry: StoredEntry?) -> String {
        let path = "\(key.path)\(key.isTemporary ? " for a while" : "")"
        guard let entry, case .value(let value) = entry.content else { return path }
        return "\(path)=\(value.text) by \(entry.origin) over \(entry.covered?.text ?? "nothing")"
    }
}

private final class WeakRegistry: Sendable {
    weak let value: TweakRegistry?

    init(_ value: TweakRegistry) { self.value = value }
}

extension StoredEntry {
    /// An override as it was stored yesterday.
    static func override(
        _ path: String, _ value: TweakValue, over covered: TweakValue? = nil, by origin: String = "uid 1000"
    ) throws -> StoredEntry {
        StoredEntry(
            path: try TweakPath(path), content: .value(value), origin: TweakOrigin(origin),
            time: .now - .seconds(86_400), covered: covered)
    }
}
