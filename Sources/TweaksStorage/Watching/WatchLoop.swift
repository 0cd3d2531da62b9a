// Runs the watcher's thread: waits, reads events, resolves the path, and reports settled changes.

import Tweaks

/// The settings of a watcher.
struct WatchSettings: Sendable {
    let path: String
    let settling: FileWatcher.Settling
    let interval: Duration
    let backend: FileWatcher.Backend
    let onProblem: @Sendable (String) -> Void
    let onChange: @Sendable (FileWatcher.Reason) -> Void
}

/// The job of the watcher's thread. Created and used on that thread only.
final class WatchLoop: WorkerJob {
    private let settings: WatchSettings
    private let worker: Worker<[UInt8]>
    /// Nil if the watcher only polls.
    private var events: DirectoryEvents?
    /// The path as last resolved.
    private var resolvedPath: ResolvedPath
    private var debouncer: Debouncer
    private var nextPoll = ContinuousClock.now
    /// After events were read, further ones are collected until this time: a log written to the same directory must not
    /// keep this thread running, and the kernel merges equal events.
    private var collectsUntil: ContinuousClock.Instant?
    private var now = ContinuousClock.now
    private var reportedProblems: Set<String> = []
    private lazy var buffer = [UInt8](repeating: 0, count: 65_536)

    private static let collectionTime = Duration.milliseconds(5)

    /// Creates a job that already watches.
    init(settings: WatchSettings, worker: Worker<[UInt8]>) {
        self.settings = settings
        self.worker = worker
        debouncer = Debouncer(settings.settling)
        resolvedPath = ResolvedPath(settings.path)
        openEvents()
        resolvedPath = resolveAndWatch()
        nextPoll = .now + settings.interval
    }

    var nextWake: ContinuousClock.Instant? { [nextPoll, debouncer.deadline, collectsUntil].compactMap(\.self).min() }

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
            do throws(WatchFailure) {
                let count = try events.readEvents(into: &buffer)
                all += DirectoryEvent.parse(buffer[..<count])
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
        nextPoll = now + settings.interval
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
        do throws(WatchFailure) {
            if case .failingToWatch(let code) = settings.backend { throw WatchFailure(code: code) }
            for path in try events.follow(directories) {
                reportOnce("the directory \(path) cannot be read, so changes there are polled \(pollingInterval)")
            }
        } catch {
            fallBackToPolling(error)
        }
    }

    // MARK: - Kernel events or polling

    private func openEvents() {
        do throws(WatchFailure) {
            switch settings.backend {
            case .polling: return
            case .failing(let code): throw WatchFailure(code: code)
            case .automatic, .failingToWatch: break
            }
            if !DirectoryEvents.isSupported { return }
            // Without a descriptor for wakeups the thread cannot wait for another descriptor.
            if !worker.canWaitForDescriptors { throw WatchFailure.noDescriptors }
            events = try DirectoryEvents()
        } catch {
            fallBackToPolling(error)
        }
    }

    private func fallBackToPolling(_ failure: WatchFailure) {
        events = nil
        reportOnce("inotify is not available (\(failure.text)): changes are polled \(pollingInterval)\(failure.remedy)")
    }

    private var pollingInterval: String { "every \(TweakValue.duration(settings.interval).text)" }

    private func reportOnce(_ text: String) {
        if reportedProblems.insert(text).inserted { settings.onProblem("\(settings.path): \(text)") }
    }
}
