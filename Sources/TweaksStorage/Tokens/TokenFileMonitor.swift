// Watches a token file and publishes its tokens; deleted tokens become invalid at once.

import Dispatch
import Synchronization
package import TweaksWire

/// Reads a token file at once, and again when it changes.
///
/// A missing, empty or untrusted file has no tokens: a removed token never stays valid because of a later error. Plain
/// sign-in stays off while a file that turned it off is missing or empty, as it is for a moment when it is replaced in
/// two steps: it also concerns the panel's own token.
package final class TokenFileMonitor: Sendable {
    private struct State {
        var lastContent: TokenFile?
        var table = TokenTable()
        var watcher: FileWatcher?
        var isStopped = false
    }

    private let path: String
    private let watching: WatchTimes
    private let onChange: @Sendable (TokenTable) -> Void
    private let onEvent: @Sendable (TokenEvent) -> Void
    /// Serializes reads, so that the last content read is the last one published.
    private let queue = DispatchQueue(label: "tweaks.tokens")
    private let state = Mutex(State())

    /// How the file is watched; tests use shorter times.
    package struct WatchTimes: Sendable {
        package var settle = FileWatcher.Settling()
        package var poll = FileWatcher.defaultPollInterval
        package var backend = FileWatcher.Backend.automatic

        package init() {}
    }

    /// Reads the file.
    /// - Parameters:
    ///   - path: The file, which need not exist yet.
    ///   - onChange: Receives the tokens when they change, but not after the first read. Runs on the watcher's thread
    ///     or on the one that calls `reload`; never concurrently with itself, and in order. It must not call `reload`.
    ///   - onEvent: Receives events, including those of the first read. Runs on the same threads as `onChange`, and
    ///     before it; during this call, on the caller's thread.
    package init(
        path: String, watching: WatchTimes = WatchTimes(),
        onChange: @escaping @Sendable (TokenTable) -> Void, onEvent: @escaping @Sendable (TokenEvent) -> Void
    ) {
        (self.path, self.watching, self.onChange, self.onEvent) = (path, watching, onChange, onEvent)
        _ = apply(TokenFile(path: path))
    }

    /// The current tokens.
    package var table: TokenTable { state.withLock { $0.table } }

    /// Starts watching, and reads the file again, because it may have changed meanwhile. Starts only once.
    package func start() {
        let watcher = FileWatcher(
            path: path, settle: watching.settle, poll: watching.poll, backend: watching.backend,
            onProblem: { [onEvent] in onEvent(.late($0)) }, onChange: { [weak self] _ in self?.reload() })
        let isFirst = state.withLock { state in
            if state.isStopped || state.watcher != nil { return false }
            state.watcher = watcher
            return true
        }
        guard isFirst else { return }
        watcher.start()
        reload()
    }

    /// Stops watching; once this returns, no call of the watcher starts or runs.
    package func stop() {
        let watcher = state.withLock { state in
            state.isStopped = true
            return state.watcher.take()
        }
        watcher?.stop()
    }

    /// Reads the file now; on return, its content is in effect.
    package func reload() {
        queue.sync {
            if let table = apply(TokenFile(path: path)) { onChange(table) }
        }
    }

    // MARK: Applying

    /// Applies file content.
    /// - Returns: The tokens, if they changed.
    private func apply(_ content: TokenFile) -> TokenTable? {
        if state.withLock({ $0.lastContent == content }) { return nil }
        let (table, events) = parse(content)
        let hasChanged = state.withLock { state in
            defer { (state.lastContent, state.table) = (content, table) }
            return state.table != table
        }
        for event in events { onEvent(event) }
        return hasChanged ? table : nil
    }

    /// The maximum number of bad lines reported separately.
    private static let maxReportedProblems = 20

    /// No tokens, with the last word on plain sign-in.
    private var withoutTokens: TokenTable { TokenTable(refusesPlain: table.refusesPlain) }

    private func parse(_ content: TokenFile) -> (TokenTable, [TokenEvent]) {
        switch content {
        case .missing: return (withoutTokens, [.missing(path: path)])
        case .bytes([]): return (withoutTokens, [.loaded(path: path, count: 0)])
        // It may turn plain sign-in off, which also concerns the panel's own token.
        case .refused(let reason): return (TokenTable(refusesPlain: true), [.refused(path: path, reason)])
        case .bytes(let bytes):
            let text = TokenText(bytes)
            let (table, problems) = (text.table, text.problems)
            var events = problems.prefix(Self.maxReportedProblems).map { TokenEvent.problem(path: path, $0) }
            if problems.count > Self.maxReportedProblems {
                events.append(.more(path: path, problems.count - Self.maxReportedProblems))
            }
            if text.refusesPlainByMistake { events.append(.plainOff(path: path)) }
            let old = text.plainOnly.map(\.name)
            if !old.isEmpty { events.append(.plainOnly(path: path, old, isOff: table.refusesPlain)) }
            return (table, events + [.loaded(path: path, count: table.entries.count)])
        }
    }
}
