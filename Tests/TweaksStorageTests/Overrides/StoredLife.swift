// One run of a program that stores its overrides, and what it was told meanwhile.

import Dispatch
import Foundation
import Synchronization
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

/// A registry with its storage, from open to close.
final class StoredLife: Sendable {
    let registry: TweakRegistry
    let store: OverrideStore
    let directory: String
    private let recorded: Recorded

    private final class Recorded: Sendable {
        let events = Mutex<[OverrideStore.Event]>([])
    }

    init(
        _ directory: String, isRequired: Bool = false, files: any FileSystem = PosixFileSystem(),
        keepsHistory: Bool = false, time: any StorageTime = SystemTime(), registry: TweakRegistry? = nil,
        isOpen: Bool = true
    ) {
        // Nobody rings: a test says itself when something ends.
        let own = { TweakRegistry(now: { time.now }, sleep: { _ in try await Task.sleep(for: .seconds(86_400)) }) }
        let recorded = Recorded()
        (self.directory, self.recorded, self.registry) = (directory, recorded, registry ?? own())
        store = OverrideStore(
            directory: directory, program: "test", isRequired: isRequired, fileSystem: files,
            keepsHistory: keepsHistory, time: time
        ) { event in recorded.events.withLock { $0.append(event) } }
        if isOpen { store.open(self.registry) }
    }

    deinit { store.close() }

    var events: [OverrideStore.Event] { recorded.events.withLock { $0 } }
    var file: String { "\(directory)/overrides.json" }

    /// The file as it is.
    var text: String? { FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) } }

    func number(_ name: String, _ value: Double = 1) throws -> Tweak<Double> {
        try registry.register("A", "B", name, value)
    }

    /// Blocks until everything up to now was tried; why it was not saved.
    @discardableResult
    func tried() -> String? {
        let answer = Mutex<String?>(nil)
        let semaphore = DispatchSemaphore(value: 0)
        store.whenTried(registry.revision) { failure in
            answer.withLock { $0 = failure }
            semaphore.signal()
        }
        semaphore.wait()
        return answer.withLock { $0 }
    }

    /// Blocks until an attempt succeeds; false when none does for a minute.
    func isSavedInTheEnd() -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let observation = store.observe { if $0.failure == nil { semaphore.signal() } }
        defer { withExtendedLifetime(observation) {} }
        return store.status.failure == nil || semaphore.wait(timeout: .patience) == .success
    }

    /// Numbers, by name, as they are proposed.
    func changes(_ numbers: [String: Double?]) throws -> OverrideChanges {
        var changes: OverrideChanges = [:]
        for (name, number) in numbers {
            changes[OverrideKey(try TweakPath("A", "B", name))] = .some(try number.map { try entry(name, $0) })
        }
        return changes
    }

    /// Proposes numbers, by name, and blocks until there is an answer.
    func propose(_ numbers: [String: Double?]) throws -> String? {
        let answer = Mutex<String?>(nil)
        let semaphore = DispatchSemaphore(value: 0)
        store.propose(try changes(numbers)) { failure in
            answer.withLock { $0 = failure }
            semaphore.signal()
        }
        semaphore.wait()
        return answer.withLock { $0 }
    }

    /// An override of the test's number.
    func entry(_ name: String, _ value: Double) throws -> StoredEntry {
        StoredEntry(
            path: try TweakPath("A", "B", name), content: .value(.number(value)), origin: .user(1000),
            time: registry.currentTime, covered: .number(1))
    }
}

extension TemporaryDirectory {
    /// The names of what is in it, in order.
    func names(_ folder: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: file(folder))) ?? []).sorted()
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
    }

    func read(_ name: String) -> String? {
        FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) }
    }
}
