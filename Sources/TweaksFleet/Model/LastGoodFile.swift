// Saves the last good state of a fleet on disk: a file with all of it, and one with the changes since.

import Dispatch
import Synchronization
import Tweaks
import TweaksSystem

/// The files with the last good state, in a state directory owned by this process.
///
/// `fleet-NAME.json` has all of it. Later changes are appended to `fleet-NAME.changes`, whose first line names the
/// checksum of the file that they follow: they are ignored where that has been replaced, by an older edition or by us.
package struct LastGoodFile: Sendable {
    private let directory: String
    private let keys: FleetKeys

    package init(directory: String, keys: FleetKeys) {
        self.directory = directory
        self.keys = keys
    }

    package var name: String { "fleet-\(keys.name).json" }
    private var changesName: String { "fleet-\(keys.name).changes" }

    // MARK: Reading

    /// Returns nil if there is no file.
    package func load() throws(FleetProblem) -> LastGood? {
        let content: (base: [UInt8], changes: [UInt8]?)
        do throws(FileProblem) {
            let folder = try Folder(directory)
            guard let base = try folder.content(of: name, limit: LastGood.maxBytes) else { return nil }
            content = (base.bytes, try? folder.content(of: changesName, limit: LastGood.maxBytes)?.bytes)
        } catch {
            if error.isMissing { return nil }
            throw FleetProblem("\(error)")
        }
        do throws(FleetProblem) {
            let state = try LastGood(content.base, keys)
            return state.followed(by: Self.lines(content.changes ?? [], after: content.base), keys)
        } catch {
            throw FleetProblem("\(directory)/\(name): \(error.text); it is written again when etcd has answered")
        }
    }

    /// The complete lines of changes to a base; a crash can leave the last one cut.
    private static func lines(_ changes: [UInt8], after base: [UInt8]) -> ArraySlice<ArraySlice<UInt8>> {
        let lines = changes.split(separator: 0x0A)
        guard let first = lines.first, first.elementsEqual(mark(of: base)) else { return [] }
        return lines.dropFirst()
    }

    /// The first line of the changes to a base.
    private static func mark(of base: [UInt8]) -> [UInt8] {
        Array("tweaks fleet changes 1 \(String(FleetHash.fnv(base), radix: 16))".utf8)
    }

    // MARK: Writing

    /// Replaces the files with one that has the whole state.
    /// - Returns: What later changes are appended to.
    @discardableResult package func save(_ state: LastGood) throws(FleetProblem) -> LastGoodLog {
        let bytes = state.bytes
        guard bytes.count <= LastGood.maxBytes else {
            throw FleetProblem(
                "\(directory)/\(name): the state has more than \(LastGood.maxBytes) bytes; it is not kept")
        }
        do throws(FileProblem) {
            let folder = try Folder(directory)
            try folder.replace(name, with: bytes)
            // Changes to the file before would be ignored, and with them all that is appended to them.
            do throws(FileProblem) {
                try folder.remove(changesName)
            } catch {
                if !error.isMissing { throw error }
            }
            try folder.flush()
            return LastGoodLog(
                folder: folder, name: changesName, mark: Self.mark(of: bytes) + [0x0A], limit: bytes.count)
        } catch {
            throw FleetProblem("\(error)")
        }
    }
}

/// The file with the changes to a saved state.
package struct LastGoodLog: Sendable {
    private let folder: Folder
    private let name: String
    private let mark: [UInt8]
    private var file: OpenFile?
    private var size = 0
    /// The size from which the whole state is saved again.
    private let limit: Int

    fileprivate init(folder: Folder, name: String, mark: [UInt8], limit: Int) {
        self.folder = folder
        self.name = name
        self.mark = mark
        self.limit = max(limit, 256 << 10)
    }

    var isFull: Bool { size >= limit }

    mutating func append(_ line: [UInt8]) throws(FleetProblem) {
        do throws(FileProblem) {
            let isNew = file == nil
            let file = if let file { file } else { try folder.open(name, for: .appending) }
            self.file = file
            try file.write(isNew ? mark + line : line)
            try file.flush()
            if isNew { try folder.flush() }
            size += line.count
        } catch {
            throw FleetProblem("\(error)")
        }
    }
}

/// Saves a process's state on a queue of its own, so that neither a slow disk nor a slow request delays the other.
///
/// An update is saved at once; those that arrive meanwhile are saved together.
final class LastGoodKeeper: Sendable {
    private struct State {
        var pending: LastGoodUpdate?
        var isRunning = false
        var needsWhole = true
        var result: Result<FleetPosition, FleetProblem>?
    }

    private let file: LastGoodFile
    /// The shortest time between the starts of two writes.
    private let interval: Duration
    private let queue = DispatchQueue(label: "tweaks.fleet.save")
    private let state = Mutex(State())
    private let log = Mutex<LastGoodLog?>(nil)
    /// Called on the queue after each write.
    private let didSave: @Sendable () -> Void

    init(
        _ file: LastGoodFile, interval: Duration,
        didSave: @escaping @Sendable () -> Void
    ) {
        self.file = file
        self.interval = interval
        self.didSave = didSave
    }

    /// Whether the next update has to be a whole state.
    var needsWhole: Bool { state.withLock { $0.needsWhole } }

    func save(_ update: LastGoodUpdate) {
        let begins = state.withLock { state in
            if state.pending?.add(update) == nil { state.pending = update }
            if case .whole = update { state.needsWhole = false }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { queue.async { self.run() } }
    }

    /// Waits until everything is saved.
    func finish() async {
        await withCheckedContinuation { continuation in
            queue.async {
                while self.writeNext() {}
                continuation.resume()
            }
        }
    }

    /// Discards what is not being written yet, and waits for what is. For tests that kill a process: none of its writes
    /// follows those of its next start.
    func discard() async {
        state.withLock { $0.pending = nil }
        await finish()
    }

    /// Takes the result of the last write: what is saved, or why it is not.
    func takeResult() -> Result<FleetPosition, FleetProblem>? { state.withLock { $0.result.take() } }

    private func run() {
        guard writeNext() else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(interval / .milliseconds(1)))) { self.run() }
    }

    /// - Returns: False if there was nothing to write.
    private func writeNext() -> Bool {
        let update = state.withLock { state in
            let update = state.pending.take()
            state.isRunning = update != nil
            return update
        }
        guard let update else { return false }
        do throws(FleetProblem) {
            try write(update)
            state.withLock { $0.result = .success(update.position) }
        } catch {
            // The files may lack this update, so that no later one may follow.
            log.withLock { $0 = nil }
            state.withLock { ($0.needsWhole, $0.result) = (true, .failure(error)) }
        }
        didSave()
        return true
    }

    private func write(_ update: LastGoodUpdate) throws(FleetProblem) {
        switch update {
        case .whole(let state):
            log.withLock { $0 = nil }
            let new = try file.save(state)
            log.withLock { $0 = new }
        case .changes(let position, let changes):
            guard var current = log.withLock({ $0 }) else { throw FleetProblem("the state before it is not saved") }
            try current.append(LastGood.line(changes, position))
            let saved = current
            log.withLock { $0 = saved }
            if saved.isFull { self.state.withLock { $0.needsWhole = true } }
        }
    }
}
