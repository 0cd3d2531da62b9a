// Noticing that a file may have changed: what the rest of the process sees of it.

import TweaksSystem

/// Says when a file is worth reading again. It never reads the file; whoever listens decides by its content.
///
/// ```swift
/// let watcher = FileWatcher(path: path, onTrouble: { log($0) }, lookAgain: { _ in reload() })
/// watcher.start()
/// reload()
/// ```
///
/// It watches the directories on the way to the file, never the file: editors, `mv` and Kubernetes put another file or
/// link in its place. Besides, it looks every few seconds, because some file systems tell nobody. One thread; it is
/// started once, and a stopped watcher stays stopped.
package final class FileWatcher: Sendable {
    /// Why it is time to look again; the strongest of what came together.
    package enum Reason: Comparable, Sendable {
        /// Nobody said so, but the file is not as it was.
        case poll
        /// The kernel said so.
        case event
        /// The kernel lost count of what happened.
        case overflow
    }

    /// Where notice comes from.
    package enum Backend: Equatable, Sendable {
        /// The kernel's events where there are any, and looking every few seconds.
        case automatic
        /// Looking every few seconds.
        case polling
        /// As if the kernel refused to give events, with this error number.
        case failing(Int32)
        /// As if the kernel refused to watch a directory.
        case failingToWatch(Int32)
    }

    /// How often it looks where nobody tells.
    package static let usualInterval = DirectoryEvents.isSupported ? Duration.seconds(2) : .milliseconds(500)

    private let settings: WatchSettings
    private let worker = Worker<[UInt8]>("tweaks.watch")

    /// A watcher that is not started yet; nothing is opened.
    /// - Parameters:
    ///   - path: The file, which need not be there yet. A relative one is taken from the current directory of now.
    ///   - settle: How long it waits for a writer to finish.
    ///   - poll: How often it looks besides.
    ///   - backend: For tests, what the kernel can do.
    ///   - onTrouble: Is told, once each, why changes may be noticed late. Runs on the watcher's thread.
    ///   - lookAgain: Is called when things have settled, on the watcher's thread, never concurrently with itself.
    package init(
        path: String, settle: Settling = Settling(), poll: Duration = usualInterval, backend: Backend = .automatic,
        onTrouble: @escaping @Sendable (String) -> Void, lookAgain: @escaping @Sendable (Reason) -> Void
    ) {
        settings = WatchSettings(
            path: ThisProcess.absolute(path), settling: settle, interval: poll, backend: backend, onTrouble: onTrouble,
            lookAgain: lookAgain)
    }

    // Without waiting: the last reference may go away anywhere.
    deinit { worker.close() }

    /// Starts the thread. Whatever changes after this has returned is noticed, so read the file afterwards.
    package func start() {
        worker.start(waitsForDescriptors: true) { [settings, worker] in WatchLoop(settings: settings, worker: worker) }
    }

    /// Ends the thread and waits for it: once this has returned, no call starts or runs, and nothing is left open.
    /// Within `lookAgain` it does not wait, and the running call is the last one.
    package func stop() {
        worker.close()
        worker.waitForEnd()
    }

    /// For tests: takes bytes as if the kernel had given them as events.
    package func inject(events bytes: [UInt8]) { _ = worker.post(bytes) }
}
