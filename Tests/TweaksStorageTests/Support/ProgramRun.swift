// Runs a program that stores its overrides, and records the events of the storage.

import Dispatch
import Foundation
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

/// A registry with its storage, from open to close.
final class ProgramRun: Sendable {
    let registry: TweakRegistry
    let store: OverrideStore
    let directory: String
    private let recordedEvents = Recorder<OverrideStore.Event>()

    init(
        _ directory: String, isRequired: Bool = false, files: any FileSystem = PosixFileSystem(),
        keepsHistory: Bool = false, time: any StorageTime = SystemTime(), registry: TweakRegistry? = nil,
        isOpen: Bool = true
    ) {
        // Temporary overrides expire only when a test calls `expire`.
        let own = { TweakRegistry(now: { time.now }, sleep: { _ in try await Task.sleep(for: .seconds(86_400)) }) }
        (self.directory, self.registry) = (directory, registry ?? own())
        store = OverrideStore(
            directory: directory, program: "test", isRequired: isRequired, fileSystem: files,
            keepsHistory: keepsHistory, time: time, onEvent: { [recordedEvents] in recordedEvents.note($0) })
        if isOpen { store.open(self.registry) }
    }

    deinit { store.close() }

    var events: [OverrideStore.Event] { recordedEvents.all }
    var file: String { "\(directory)/overrides.json" }

    /// The content of the overrides file.
    var text: String? { FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) } }

    func number(_ name: String, _ value: Double = 1) throws -> Tweak<Double> {
        try registry.register("A", "B", name, value)
    }

    /// Blocks until everything up to now was attempted; returns why it was not saved.
    @discardableResult
    func flush() -> String? { failure { store.whenAttempted(registry.revision, $0) } }

    /// Sets a tweak and flushes.
    @discardableResult
    func save<Value>(_ tweak: Tweak<Value>, _ value: Value) -> String? {
        tweak.value = value
        return flush()
    }

    /// Sets a number and flushes.
    @discardableResult
    func save(_ name: String, _ value: Double) throws -> String? { save(try number(name), value) }

    /// Blocks until an attempt succeeds; returns false after the timeout of tests.
    func isSavedEventually() -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let observation = store.observe { if $0.failure == nil { semaphore.signal() } }
        defer { withExtendedLifetime(observation) {} }
        return store.status.failure == nil || semaphore.wait(timeout: .testTimeout) == .success
    }

    /// Proposals for numbers, by name; nil proposes to reset one.
    func changes(_ numbers: [String: Double?]) throws -> OverrideChanges {
        var changes: OverrideChanges = [:]
        for (name, number) in numbers {
            changes[OverrideKey(try TweakPath("A", "B", name))] = .some(try number.map { try entry(name, $0) })
        }
        return changes
    }

    /// Proposes numbers, by name, and blocks until there is an answer; returns why it was refused.
    func propose(_ numbers: [String: Double?]) throws -> String? {
        let changes = try changes(numbers)
        return failure { store.propose(changes, then: $0) }
    }

    private func entry(_ name: String, _ value: Double) throws -> StoredEntry {
        StoredEntry(
            path: try TweakPath("A", "B", name), content: .value(.number(value)), origin: .user(1000),
            time: registry.currentTime, covered: .number(1))
    }

    private func failure(_ start: (@escaping @Sendable (String?) -> Void) -> Void) -> String? {
        let answers = Recorder<String?>()
        start { answers.note($0) }
        return answers.takeNext() ?? "there was no answer"
    }
}

// MARK: - History

extension ProgramRun {
    var historyFile: String { "\(directory)/history.jsonl" }

    /// The history file, line by line.
    var historyLines: [String] {
        let bytes = FileManager.default.contents(atPath: historyFile) ?? Data()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
    }

    /// Commits a change of a session, temporary if it has a duration.
    func set(_ name: String, _ value: Double?, for duration: Duration? = nil, by session: UInt64 = 1) throws {
        var batch = TweakBatch()
        if let value { batch.set("A/B/\(name)", .number(value), for: duration) } else { batch.reset("A/B/\(name)") }
        try registry.commit(
            batch, origin: TweakOrigin("session \(session)"), kind: .change(session: session), delivery: .caller)
    }
}

extension TweakRegistry {
    /// The history, newest first: `3 session 1: X 1→2`.
    var entries: [String] {
        history.map { entry in
            let changes = entry.changes.map { "\($0.path.name) \($0.old?.text ?? "?")→\($0.new?.text ?? "?")" }
            let verb =
                switch entry.kind {
                case .undo(let revision): " undid \(revision)"
                case .redo(let revision): " redid \(revision)"
                default: ""
                }
            return "\(entry.revision) \(entry.origin)\(verb)\(entry.isUndone ? " undone" : ""): "
                + changes.joined(separator: ", ")
        }
    }
}
