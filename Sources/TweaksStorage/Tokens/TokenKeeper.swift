// The tokens of a file, as they are now: what somebody deletes there is void a moment later.

import Dispatch
import Synchronization
package import TweaksWire

/// Reads a token file at once, and again whenever it changes.
///
/// A file that is missing, emptied, or not to be trusted gives no tokens: nothing that was taken away stays in effect
/// because of what came after it.
package final class TokenKeeper: Sendable {
    private struct State {
        var seen: TokenFile?
        var table = TokenTable()
        var watcher: FileWatcher?
        var isStopped = false
    }

    private let path: String
    private let watching: WatchTimes
    private let onChange: @Sendable (TokenTable) -> Void
    private let onEvent: @Sendable (TokenEvent) -> Void
    /// One look at a time, so that the last one read is the last one told.
    private let queue = DispatchQueue(label: "tweaks.tokens")
    private let state = Mutex(State())

    /// How the file is watched; tests are in a hurry.
    package struct WatchTimes: Sendable {
        package var settle = FileWatcher.Settling()
        package var poll = FileWatcher.usualInterval
        package var backend = FileWatcher.Backend.automatic

        package init() {}
    }

    /// Reads the file.
    /// - Parameters:
    ///   - path: The file, which need not be there yet.
    ///   - onChange: Is called with the tokens when they have become others; not for the first reading. Runs on the
    ///     watcher's thread, or on the one that looks; never concurrently with itself, and in order. It must
    ///     not call `look`.
    ///   - onEvent: Is told what is to be said, of the first reading, too. Runs as `onChange` does, and before it
    ///     here, on the caller's thread.
    package init(
        path: String, watching: WatchTimes = WatchTimes(),
        onChange: @escaping @Sendable (TokenTable) -> Void, onEvent: @escaping @Sendable (TokenEvent) -> Void
    ) {
        (self.path, self.watching, self.onChange, self.onEvent) = (path, watching, onChange, onEvent)
        _ = take(TokenFile(path: path))
    }

    /// The tokens as they are now.
    package var table: TokenTable { state.withLock { $0.table } }

    /// Watches the file from now on, and reads it again, since it may have changed meanwhile. It is started once.
    package func start() {
        let watcher = FileWatcher(
            path: path, settle: watching.settle, poll: watching.poll, backend: watching.backend,
            onTrouble: { [onEvent] in onEvent(.late($0)) }, lookAgain: { [weak self] _ in self?.look() })
        let isFirst = state.withLock { state in
            if state.isStopped || state.watcher != nil { return false }
            state.watcher = watcher
            return true
        }
        guard isFirst else { return }
        watcher.start()
        look()
    }

    /// Watches no more; once this has returned, no call of the watcher starts or runs.
    package func stop() {
        let watcher = state.withLock { state in
            state.isStopped = true
            return state.watcher.take()
        }
        watcher?.stop()
    }

    /// Reads the file now; when this returns, what is in it is in effect.
    package func look() {
        queue.sync {
            if let table = take(TokenFile(path: path)) { onChange(table) }
        }
    }

    // MARK: Taking

    /// Takes what was read.
    /// - Returns: The tokens, if they have become others.
    private func take(_ content: TokenFile) -> TokenTable? {
        if state.withLock({ $0.seen == content }) { return nil }
        let (table, events) = judge(content)
        let hasChanged = state.withLock { state in
            defer { (state.seen, state.table) = (content, table) }
            return state.table != table
        }
        for event in events { onEvent(event) }
        return hasChanged ? table : nil
    }

    /// So many bad lines are told one by one.
    private static let toldProblems = 20

    private func judge(_ content: TokenFile) -> (TokenTable, [TokenEvent]) {
        switch content {
        case .missing: return (TokenTable(), [.missing(path: path)])
        case .refused(let reason): return (TokenTable(), [.refused(path: path, reason)])
        case .bytes(let bytes):
            let text = TokenText(bytes)
            let (table, problems) = (text.table, text.problems)
            var events = problems.prefix(Self.toldProblems).map { TokenEvent.problem(path: path, $0) }
            if problems.count > Self.toldProblems {
                events.append(.more(path: path, problems.count - Self.toldProblems))
            }
            let old = text.plainOnly.map(\.name)
            if !old.isEmpty { events.append(.plainOnly(path: path, old, isOff: table.refusesPlain)) }
            return (table, events + [.taken(path: path, count: table.entries.count)])
        }
    }
}
