// Provides a storage without a disk, for tests of what a registry stores and what it applies.

import Synchronization
import Tweaks
import TweaksStorage

/// Collects the changes to store and reports them as saved when a test requests it.
final class StubStore: TweakStore {
    private let current = Mutex(SaveStatus(saved: 0, attempted: 0))
    private let observers = Mutex<[Int: @Sendable (SaveStatus) -> Void]>([:])
    private let source = Mutex<(@Sendable () -> StoreBatch?)?>(nil)
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
        source.withLock { $0 = { [weak registry] in registry?.read(follower, .nothing) { StoreBatch($0) } } }
        return true
    }

    /// The number of notifications that there are changes to store.
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
    func storeLast(_ last: OverrideUpdate) {}
    func flush() {}
    func beginRound() {}
    func endRound() {}

    /// Reports the result of a write.
    func finish(_ status: SaveStatus) {
        current.withLock { $0 = status }
        for observer in observers.withLock({ Array($0.values) }) { observer(status) }
    }

    /// The changes to store since the last call: `PATH=VALUE by ORIGIN over COVERED`, sorted.
    func taken() -> [String] { source.withLock { $0?() }?.changes.map(Self.text).sorted() ?? [] }

    private static func text(_ key: OverrideKey, _ entry: StoredEntry?) -> String {
        let path = "\(key.path)\(key.isTemporary ? " temporarily" : "")"
        guard let entry, case .value(let value) = entry.content else { return path }
        return "\(path)=\(value.text) by \(entry.origin) over \(entry.covered?.text ?? "nothing")"
    }
}

extension StoredEntry {
    /// An override that was stored a day ago.
    static func override(
        _ path: String, _ value: TweakValue, over covered: TweakValue? = nil, by origin: String = "uid 1000"
    ) throws -> StoredEntry {
        StoredEntry(
            path: try TweakPath(path), content: .value(value), origin: TweakOrigin(origin),
            time: .now - .seconds(86_400), covered: covered)
    }
}
