// Watches a file for changes on its own thread: waits, reads events, resolves the path, and reports settled changes.

package import Tweaks
import TweaksSystem

/// Reports when a file should be read again. It does not read the file; the receiver compares the content.
///
/// ```swift
/// let watcher = FileWatcher(path: path, onProblem: { log($0) }, onChange: { _ in reload() })
/// watcher.start()
/// reload()
/// ```
///
/// It watches the directories on the path, not the file: editors, `mv` and Kubernetes replace the file or a link. It
/// also polls every few seconds, because some file systems send no events. It uses one thread; it starts once, and a
/// stopped watcher stays stopped.
package final class FileWatcher: Sendable {
    /// Why to read the file again; the strongest of several reasons.
    package enum Reason: Comparable, Sendable {
        /// Polling found a difference without an event.
        case poll
        /// The kernel sent an event.
        case event
        /// The kernel lost events.
        case overflow
    }

    /// The source of notifications.
    package enum Backend: Equatable, Sendable {
        /// Kernel events if available, and polling every few seconds.
        case automatic
        /// Polling every few seconds.
        case polling
        /// Simulates that the kernel refuses to send events, with this error number.
        case failing(Int32)
        /// Simulates that the kernel refuses to watch a directory.
        case failingToWatch(Int32)
    }

    /// How long to wait after a change.
    package struct Settling: Equatable, Sendable {
        /// After a file was closed, moved into place, or removed.
        package var quiet: Duration
        /// After a write by a process that still has the file open.
        package var writing: Duration
        /// The maximum delay since the first event, for files that are written continuously.
        package var longest: Duration

        /// Times that suit editors, scripts and slow writers.
        package init(
            quiet: Duration = .milliseconds(20), writing: Duration = .milliseconds(250),
            longest: Duration = .seconds(1)
        ) {
            self.quiet = quiet
            self.writing = writing
            self.longest = longest
        }
    }

    /// How a file is watched; tests use shorter times, and simulate limitations of the kernel.
    package struct Options: Sendable {
        package var settle = Settling()
        /// The polling interval.
        package var poll = defaultPollInterval
        package var backend = Backend.automatic

        package init() {}
    }

    /// The polling interval, shorter without kernel events.
    package static let defaultPollInterval = DirectoryEvents.isSupported ? Duration.seconds(2) : .milliseconds(500)

    private let settings: WatchSettings
    private let worker = Worker<[UInt8]>("tweaks.watch")

    /// Creates a watcher without starting it or opening anything.
    /// - Parameters:
    ///   - path: The file, which need not exist yet. A relative path is resolved against the current directory now.
    ///   - onProblem: Receives, once each, the reasons why changes may be noticed late. Runs on the watcher's thread.
    ///   - onChange: Called after changes have settled, on the watcher's thread, never concurrently with itself.
    package init(
        path: String, _ options: Options = Options(),
        onProblem: @escaping @Sendable (String) -> Void, onChange: @escaping @Sendable (Reason) -> Void
    ) {
        settings = WatchSettings(
            path: ThisProcess.absolute(path), options: options, onProblem: onProblem, onChange: onChange)
    }

    // Does not wait, because the last reference can be released on any thread.
    deinit { worker.close() }

    /// Starts the thread. Every change after this returns is noticed, so read the file afterwards.
    package func start() {
        worker.start(waitsForDescriptors: true) { [settings, worker] in WatchLoop(settings: settings, worker: worker) }
    }

    /// Ends the thread and waits for it: once this returns, no call starts or runs, and nothing is open. Within
    /// `onChange` it does not wait, and the running call is the last one.
    package func stop() {
        worker.close()
        worker.waitForEnd()
    }

    /// Handles bytes as kernel events, for tests.
    package func inject(events bytes: [UInt8]) { _ = worker.post(bytes) }
}

/// The settings of a watcher.
private struct WatchSettings: Sendable {
    let path: String
    let options: FileWatcher.Options
    let onProblem: @Sendable (String) -> Void
    let onChange: @Sendable (FileWatcher.Reason) -> Void
}

/// The job of the watcher's thread. Created and used on that thread only.
private final class WatchLoop: WorkerJob {
    private let settings: WatchSettings
    private let worker: Worker<[UInt8]>
    /// Nil if the watcher only polls.
    private var events: DirectoryEvents?
    /// The path as last resolved.
    private var resolvedPath: ResolvedPath
    private var debouncer: Debouncer
    private var nextPoll = Moment.now
    /// After events were read, further ones are collected until this time: a log written to the same directory must not
    /// keep this thread running, and the kernel merges equal events.
    private var collectsUntil: Moment?
    private var now = Moment.now
    private var reportedProblems: Set<String> = []

    private static let collectionTime = Duration.milliseconds(5)

    /// Creates a job that already watches.
    init(settings: WatchSettings, worker: Worker<[UInt8]>) {
        self.settings = settings
        self.worker = worker
        debouncer = Debouncer(settings.options.settle)
        resolvedPath = ResolvedPath(settings.path)
        openEvents()
        resolvedPath = resolveAndWatch()
        nextPoll = .now + settings.options.poll
    }

    var nextWake: Moment? { [nextPoll, debouncer.deadline, collectsUntil].compactMap(\.self).min() }

    var descriptor: Int32? { collectsUntil == nil ? events?.descriptor : nil }

    /// Runs one round. The path is resolved before the call, so that changes during the call are noticed.
    func turn(_ injected: [[UInt8]], isLast: Bool) {
        if isLast { return }
        now = .now
        let (hasEvents, isNamed) = readEvents(injected)
        detectChanges(hasEvents: hasEvents, isNamed: isNamed)
        if worker.isClosing { return }
        if let reason = debouncer.takeDue(at: now) { settings.onChange(reason) }
    }

    // MARK: - Events

    /// - Returns: Whether there were events, and whether one named the file or a link on the path.
    private func readEvents(_ injected: [[UInt8]]) -> (hasEvents: Bool, isNamed: Bool) {
        var all = injected.flatMap { DirectoryEvent.parse($0[...]) }
        if let events {
            do throws(FileError) {
                all += try events.read()
            } catch {
                fallBackToPolling(error)
            }
        }
        collectsUntil = all.isEmpty ? nil : now + Self.collectionTime
        var isNamed = false
        for event in all where handle(event) { isNamed = true }
        return (!all.isEmpty, isNamed)
    }

    /// - Returns: Whether the event concerns the file or a link on the path.
    private func handle(_ event: DirectoryEvent) -> Bool {
        if event.flags.contains(.overflow) {
            events?.forgetAll()
            debouncer.record(.complete, .overflow, at: now)
            return true
        }
        if event.flags.contains(.ignored) { events?.drop(event.watch) }
        guard let directory = events?.directory(of: event),
            resolvedPath.entries.contains(.init(directory: directory, name: event.name))
        else { return false }
        debouncer.record(event.flags.contains(.modify) ? .writing : .complete, .event, at: now)
        return true
    }

    // MARK: - Detecting changes

    /// Detects changes that events did not report precisely, and watches the path as it resolves now.
    private func detectChanges(hasEvents: Bool, isNamed: Bool) {
        let newPath = resolveAndWatch()
        // Events that named the file describe the writer's progress more precisely.
        if !isNamed, newPath.differs(from: resolvedPath) {
            let kind = newPath.isSameFile(as: resolvedPath) ? Debouncer.Kind.writing : .complete
            debouncer.record(kind, hasEvents ? .event : .poll, at: now)
        }
        resolvedPath = newPath
        nextPoll = now + settings.options.poll
    }

    /// Resolves the path and watches all its directories.
    private func resolveAndWatch() -> ResolvedPath {
        var newPath = ResolvedPath(settings.path)
        // The path can change between resolving and watching; if it keeps changing, events cause another round.
        for _ in 0..<8 {
            guard let events, !events.isFollowing(newPath.directories) else { break }
            follow(newPath.directories, with: events)
            newPath = ResolvedPath(settings.path)
        }
        return newPath
    }

    private func follow(_ directories: [ResolvedPath.Directory], with events: DirectoryEvents) {
        do throws(FileError) {
            if case .failingToWatch(let code) = settings.options.backend { throw FileError(code) }
            for path in try events.follow(directories) {
                reportOnce("the directory \(path) cannot be read, so changes there are polled \(pollingInterval)")
            }
        } catch {
            fallBackToPolling(error)
        }
    }

    // MARK: - Kernel events or polling

    private func openEvents() {
        do throws(FileError) {
            switch settings.options.backend {
            case .polling: return
            case .failing(let code): throw FileError(code)
            case .automatic, .failingToWatch: break
            }
            if !DirectoryEvents.isSupported { return }
            // Without a descriptor for wakeups the thread cannot wait for another descriptor.
            if !worker.canWaitForDescriptors { throw FileError(EMFILE) }
            events = try DirectoryEvents()
        } catch {
            fallBackToPolling(error)
        }
    }

    private func fallBackToPolling(_ failure: FileError) {
        events = nil
        let remedy =
            switch failure.code {
            case EMFILE: "; raise fs.inotify.max_user_instances or the limit of open files"
            case ENFILE: "; raise fs.file-max"
            case ENOSPC: "; raise fs.inotify.max_user_watches"
            default: ""
            }
        reportOnce("inotify is not available (\(failure.text)): changes are polled \(pollingInterval)\(remedy)")
    }

    private var pollingInterval: String { "every \(TweakValue.duration(settings.options.poll).text)" }

    private func reportOnce(_ text: String) {
        if reportedProblems.insert(text).inserted { settings.onProblem("\(settings.path): \(text)") }
    }
}

/// Merges many events into one notification. It has no clock: the caller passes the time.
package struct Debouncer {
    /// The writer's state, inferred from an event.
    package enum Kind: Sendable {
        /// The file appears complete.
        case complete
        /// A writer is still active.
        case writing
    }

    private let settling: FileWatcher.Settling
    private var pending: (first: Moment, due: Moment, reason: FileWatcher.Reason)?

    /// Creates a debouncer without pending events.
    package init(_ settling: FileWatcher.Settling) { self.settling = settling }

    /// When the notification is due; nil without events.
    package var deadline: Moment? { pending?.due }

    /// Records an event. The last event determines the delay.
    package mutating func record(_ kind: Kind, _ reason: FileWatcher.Reason, at now: Moment) {
        let first = pending?.first ?? now
        let quiet = kind == .complete ? settling.quiet : settling.writing
        let due = min(now + quiet, first + settling.longest)
        pending = (first, due, max(reason, pending?.reason ?? reason))
    }

    /// The reason of a due notification, which is then cleared; nil if none is due.
    package mutating func takeDue(at now: Moment) -> FileWatcher.Reason? {
        guard let pending, pending.due <= now else { return nil }
        self.pending = nil
        return pending.reason
    }
}
