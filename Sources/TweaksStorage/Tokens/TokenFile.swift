// Reads a token file that no other user can have written or read, watches it, and publishes its tokens.

import Dispatch
import Synchronization
import Tweaks
import TweaksSystem
package import TweaksWire

/// The content of a token file at one moment.
package enum TokenFile: Equatable, Sendable {
    case bytes([UInt8])
    case missing
    /// It exists but is rejected: the problem and the remedy.
    case refused(String)

    /// Reads the file. Does not follow a symbolic link at its name, and never blocks, as reading a pipe would.
    package init(path: String) {
        do throws(FileProblem) {
            let (folder, name) = try Folder.of(path)
            self = Self.content(folder, name, path)
        } catch {
            self = error.isPathMissing ? .missing : .refused("\(error.path): \(error.reason)")
        }
    }

    private static func content(_ folder: Folder, _ name: String, _ path: String) -> TokenFile {
        do throws(FileProblem) {
            try folder.validate()
        } catch {
            return .refused("\(folder.path) \(reason(ofFolder: error))")
        }
        do throws(FileProblem) {
            let rules = FileRules(forbidden: 0o077, groupMayReadRoots: true)
            let content = try folder.content(of: name, limit: TokenText.sizeLimit, rules)
            return content.map { .bytes($0.bytes) } ?? .missing
        } catch {
            return .refused(reason(error, path))
        }
    }

    // MARK: Errors

    /// Users who can replace the file can add tokens.
    private static func reason(ofFolder problem: FileProblem) -> String {
        switch problem.fault {
        case .owner(let uid): "belongs to uid \(uid); keep tokens in a directory of your own"
        case .mode: "can be written by others; chmod go-w it"
        default: problem.reason
        }
    }

    private static func reason(_ problem: FileProblem, _ path: String) -> String {
        switch problem.fault {
        case .mode(let mode):
            let group = ThisProcess.group == 0 ? "" : "; or root's, readable for group \(ThisProcess.group)"
            return "others can read or write it (mode \(String(mode, radix: 8))\(group)); chmod 600 \(path)"
        case .size(_, let limit): return "it is larger than \(limit) bytes, as no token file is"
        case .failed(let error): return error.text
        case .kind, .owner: return "\(problem.reason); \(problem.remedy)"
        }
    }
}

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
    private let watching: FileWatcher.Options
    private let onChange: @Sendable (TokenTable) -> Void
    private let onEvent: @Sendable (TokenEvent) -> Void
    /// Serializes reads, so that the last content read is the last one published.
    private let queue = DispatchQueue(label: "tweaks.tokens")
    private let state = Mutex(State())

    /// Reads the file.
    /// - Parameters:
    ///   - path: The file, which need not exist yet.
    ///   - onChange: Receives the tokens when they change, but not after the first read. Runs on the watcher's thread
    ///     or on the one that calls `reload`; never concurrently with itself, and in order. It must not call `reload`.
    ///   - onEvent: Receives events, including those of the first read. Runs on the same threads as `onChange`, and
    ///     before it; during this call, on the caller's thread.
    package init(
        path: String, watching: FileWatcher.Options = FileWatcher.Options(),
        onChange: @escaping @Sendable (TokenTable) -> Void, onEvent: @escaping @Sendable (TokenEvent) -> Void
    ) {
        self.path = path
        self.watching = watching
        self.onChange = onChange
        self.onEvent = onEvent
        _ = apply(TokenFile(path: path))
    }

    /// The current tokens.
    package var table: TokenTable { state.withLock { $0.table } }

    /// Starts watching, and reads the file again, because it may have changed meanwhile. Starts only once.
    package func start() {
        let watcher = FileWatcher(
            path: path, watching, onProblem: { [onEvent] in onEvent(.late($0)) },
            onChange: { [weak self] _ in self?.reload() })
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

/// An event of a token file, for the log. Contains neither tokens nor digests.
package enum TokenEvent: Equatable, Sendable, CustomStringConvertible {
    /// Its tokens are in effect.
    case loaded(path: String, count: Int)
    /// The file does not exist.
    case missing(path: String)
    /// The file was rejected, with the reason.
    case refused(path: String, String)
    /// A line was ignored; or none, if the problem has no line number.
    case problem(path: String, TokenText.Problem)
    /// This many further lines were ignored.
    case more(path: String, Int)
    /// Plain sign-in is off, because some lines are not understood.
    case plainOff(path: String)
    /// The names of tokens in the old format, which only plain `auth` accepts; they are unusable if that is off.
    case plainOnly(path: String, [String], isOff: Bool)
    /// Changes of the file may be noticed late, with the reason.
    case late(String)

    /// Whether it needs the attention of an operator.
    package var isProblem: Bool {
        if case .loaded = self { false } else { true }
    }

    /// A log line.
    package var description: String {
        switch self {
        case .loaded(let path, let count): "\(path): \(count == 1 ? "1 token" : "\(count) tokens")"
        case .missing(let path):
            "\(path): there is no such file, so no token is accepted; tweakctl token new NAME --scopes read makes it"
        case .refused(let path, let reason): "\(path): no token is accepted: \(reason)"
        case .problem(let path, let problem):
            "\(path)\(problem.line.map { ":\($0)" } ?? ""): ignored: \(problem.error.message)"
        case .more(let path, let count): "\(path): \(count) further lines are ignored"
        case .plainOff(let path): "\(path): \(TokenText.plainOffByMistake)"
        case .plainOnly(let path, let names, let isOff): Self.plainOnly(path, names, isOff: isOff)
        case .late(let reason): reason
        }
    }

    private static let mostNames = 5

    private static func plainOnly(_ path: String, _ names: [String], isOff: Bool) -> String {
        let rest = names.count > mostNames ? " and \(names.count - mostNames) more" : ""
        let use = isOff ? "are of no use while plain-auth is off" : "show the token itself to the program that listens"
        return "\(path): lines with sha256: \(use) (\(names.prefix(mostNames).joined(separator: ", "))\(rest)); "
            + "tweakctl token renew \(names.first ?? "NAME") makes a token that is never sent"
    }
}
