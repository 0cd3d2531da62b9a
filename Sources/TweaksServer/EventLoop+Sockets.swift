// Notices Unix sockets whose files were removed, and makes the files again.

import Tweaks

extension EventLoop {
    /// How often the files are checked.
    static let socketCheckInterval = Duration.seconds(10)

    func scheduleSocketCheck() {
        if listeners.contains(where: \.isUnix) { schedule(.sockets, in: Self.socketCheckInterval) }
    }

    /// Checks that clients still find the sockets: programs that clean a temporary directory remove them. As long as
    /// nothing is missing, the thread of the clients makes two calls for a socket, which read no file.
    func checkSockets() {
        if isStopping { return }
        for listener in listeners {
            guard let path = listener.path, let presence = listener.presence else { continue }
            switch presence {
            case .present:
                socketProblems[path] = nil
                listener.renewLock()
            case .missing: remake(listener, path)
            case .unknown(let reason):
                report(
                    "the socket \(path) cannot be looked at: \(reason); clients may not reach this process there until this "
                        + "user can search the directories on its path", path)
            case .replaced:
                report(
                    "the socket \(path) was replaced by another file, so clients no longer reach this process there; "
                        + "remove that file, and this socket is made again", path)
            }
        }
        executor.hooks.onSocketCheck()
        scheduleSocketCheck()
    }

    private func remake(_ listener: Listener, _ path: String) {
        // Clients that connected before the removal.
        accept(from: listener)
        poller.remove(listener.descriptor.number)
        do throws(ServerError) {
            try listener.remakeFile()
            socketProblems[path] = nil
            executor.hooks.report("the socket \(path) was removed, and is made again; let nothing clean its directory")
        } catch {
            report("the socket \(path) was removed, and cannot be made again: \(error)", path)
        }
        // Without it no client is accepted; the next check tries again.
        try? poller.add(listener.descriptor.number, admission.isPaused ? [] : .read)
    }

    /// Reports a problem once, until it changes.
    private func report(_ text: String, _ path: String) {
        if socketProblems.updateValue(text, forKey: path) != text { executor.hooks.report(text) }
    }
}
