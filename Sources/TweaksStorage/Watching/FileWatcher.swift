// Watches a file for changes on its own thread.

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

    /// The polling interval, shorter without kernel events.
    package static let defaultPollInterval = DirectoryEvents.isSupported ? Duration.seconds(2) : .milliseconds(500)

    private let settings: WatchSettings
    private let worker = Worker<[UInt8]>("tweaks.watch")

    /// Creates a watcher without starting it or opening anything.
    /// - Parameters:
    ///   - path: The file, which need not exist yet. A relative path is resolved against the current directory now.
    ///   - settle: How long to wait for a writer to finish.
    ///   - poll: The polling interval.
    ///   - backend: Simulates kernel limitations in tests.
    ///   - onProblem: Receives, once each, the reasons why changes may be noticed late. Runs on the watcher's thread.
    ///   - onChange: Called after changes have settled, on the watcher's thread, never concurrently with itself.
    package init(
        path: String, settle: Settling = Settling(), poll: Duration = defaultPollInterval,
        backend: Backend = .automatic,
        onProblem: @escaping @Sendable (String) -> Void, onChange: @escaping @Sendable (Reason) -> Void
    ) {
        settings = WatchSettings(
            path: ThisProcess.absolute(path), settling: settle, interval: poll, backend: backend, onProblem: onProblem,
            onChange: onChange)
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
