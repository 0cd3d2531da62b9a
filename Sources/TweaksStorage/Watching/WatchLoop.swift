// The watcher's thread: sleep, take events, look, and call when things have settled.

import Tweaks

/// What a watcher was made with.
struct WatchSettings: Sendable {
    let path: String
    let settling: FileWatcher.Settling
    let interval: Duration
    let backend: FileWatcher.Backend
    let onTrouble: @Sendable (String) -> Void
    let lookAgain: @Sendable (FileWatcher.Reason) -> Void
}

/// One thread's loop. Made and used on that thread alone.
final class WatchLoop: WorkerJob {
    private let settings: WatchSettings
    private let worker: Worker<[UInt8]>
    /// nil where looking every few seconds is all there is.
    private var events: DirectoryEvents?
    /// The way as it was when we last looked.
    private var trail: PathTrail
    private var settler: Settler
    private var nextLook = ContinuousClock.now
    /// Events are left to gather for a moment after some were taken: a log that is written beside the file all the
    /// time must not keep this thread running, and the kernel folds equal ones.
    private var gathersUntil: ContinuousClock.Instant?
    private var now = ContinuousClock.now
    private var complaints: Set<String> = []
    private lazy var buffer = [UInt8](repeating: 0, count: 65_536)

    private static let gathering = Duration.milliseconds(5)

    /// One that watches already.
    init(settings: WatchSettings, worker: Worker<[UInt8]>) {
        self.settings = settings
        self.worker = worker
        settler = Settler(settings.settling)
        trail = PathTrail(settings.path)
        openEvents()
        trail = followedTrail()
        nextLook = .now + settings.interval
    }

    var nextWake: ContinuousClock.Instant? { [nextLook, settler.deadline, gathersUntil].compactMap(\.self).min() }

    var descriptor: Int32? { gathersUntil == nil ? events?.descriptor : nil }

    /// One round. What the file looks like is taken down before the call, so that whatever changes during it is seen.
    func turn(_ injected: [[UInt8]], isLast: Bool) {
        if isLast { return }
        now = .now
        let (hasEvents, isNamed) = takeEvents(injected)
        look(hasEvents: hasEvents, isNamed: isNamed)
        if worker.isClosing { return }
        if let reason = settler.take(at: now) { settings.lookAgain(reason) }
    }

    // MARK: - Events

    /// - Returns: Whether there were any, and whether one named the file or a link on the way.
    private func takeEvents(_ injected: [[UInt8]]) -> (hasEvents: Bool, isNamed: Bool) {
        var all = injected.flatMap { DirectoryEvent.parse($0[...]) }
        if let events {
            do throws(WatchFailure) {
                let count = try events.take(into: &buffer)
                all += DirectoryEvent.parse(buffer[..<count])
            } catch {
                fallBack(error)
            }
        }
        gathersUntil = all.isEmpty ? nil : now + Self.gathering
        var isNamed = false
        for event in all where handle(event) { isNamed = true }
        return (!all.isEmpty, isNamed)
    }

    /// - Returns: Whether the event is about the file or a link on the way.
    private func handle(_ event: DirectoryEvent) -> Bool {
        if event.flags.contains(.overflow) {
            events?.forgetAll()
            settler.note(.whole, .overflow, at: now)
            return true
        }
        if event.flags.contains(.ignored) { events?.drop(event.watch) }
        guard let directory = events?.directory(of: event),
            trail.entries.contains(.init(directory: directory, name: event.name))
        else { return false }
        settler.note(event.flags.contains(.modify) ? .writing : .whole, .event, at: now)
        return true
    }

    // MARK: - Looking

    /// Finds what events did not tell, or told in other words, and follows the way where it leads now.
    private func look(hasEvents: Bool, isNamed: Bool) {
        let fresh = followedTrail()
        // Events that named the file have said more precisely how far its writer is.
        if !isNamed, fresh.differs(from: trail) {
            let kind = fresh.isSameFile(as: trail) ? Settler.Kind.writing : .whole
            settler.note(kind, hasEvents ? .event : .poll, at: now)
        }
        trail = fresh
        nextLook = now + settings.interval
    }

    /// The way as it is now, with all its directories watched.
    private func followedTrail() -> PathTrail {
        var fresh = PathTrail(settings.path)
        // It may change between looking and watching; if it does so all the time, events will bring us back.
        for _ in 0..<8 {
            guard let events, !events.isFollowing(fresh.directories) else { break }
            follow(fresh.directories, with: events)
            fresh = PathTrail(settings.path)
        }
        return fresh
    }

    private func follow(_ directories: [PathTrail.Directory], with events: DirectoryEvents) {
        do throws(WatchFailure) {
            if case .failingToWatch(let code) = settings.backend { throw WatchFailure(code: code) }
            for path in try events.follow(directories) {
                complain("the directory \(path) may not be read, so that changes there are looked for \(every) only")
            }
        } catch {
            fallBack(error)
        }
    }

    // MARK: - Where the kernel does not tell

    private func openEvents() {
        do throws(WatchFailure) {
            switch settings.backend {
            case .polling: return
            case .failing(let code): throw WatchFailure(code: code)
            case .automatic, .failingToWatch: break
            }
            if !DirectoryEvents.isSupported { return }
            // Without a descriptor to be woken by we could not wait for another one.
            if !worker.canWaitForDescriptors { throw WatchFailure.noDescriptors }
            events = try DirectoryEvents()
        } catch {
            fallBack(error)
        }
    }

    private func fallBack(_ failure: WatchFailure) {
        events = nil
        complain("inotify is not available (\(failure.text)): changes are looked for \(every)\(failure.remedy)")
    }

    private var every: String { "every \(TweakValue.duration(settings.interval).text)" }

    private func complain(_ text: String) {
        if complaints.insert(text).inserted { settings.onTrouble("\(settings.path): \(text)") }
    }
}
