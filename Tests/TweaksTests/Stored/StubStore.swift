// A storage without a disk: what a registry notes, and what it is handed over.

import Synchronization
import Tweaks

/// Takes what is noted, and says that it is saved when a test says so.
final class StubStore: TweakStore {
    private let current = Mutex(SaveStatus(saved: 0, tried: 0))
    private let observers = Mutex<[Int: @Sendable (SaveStatus) -> Void]>([:])
    private let wakes = Mutex(0)
    let journal: OverrideJournal
    let isRequired = false

    init() {
        let count = WakeCount()
        journal = OverrideJournal { count.value.withLock { $0 += 1 } }
        wakeCount = count
    }

    private let wakeCount: WakeCount
    /// How often it was told that there is something to store.
    var wakeUps: Int { wakeCount.value.withLock { $0 } }

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

    /// What the disk did.
    func finish(_ status: SaveStatus) {
        current.withLock { $0 = status }
        for observer in observers.withLock({ Array($0.values) }) { observer(status) }
    }

    /// What was noted since the last look: `PATH=VALUE by ORIGIN over COVERED`, sorted.
    func taken() -> [String] {
        journal.takeAll().changes.map { key, entry in
            let path = "\(key.path)\(key.isTemporary ? " for a while" : "")"
            guard let entry, case .value(let value) = entry.content else { return path }
            return "\(path)=\(value.text) by \(entry.origin) over \(entry.covered?.text ?? "nothing")"
        }
        .sorted()
    }
}

private final class WakeCount: Sendable {
    let value = Mutex(0)
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
