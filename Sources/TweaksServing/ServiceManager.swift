// Telling systemd how the process is: the protocol of sd_notify(3).

package import TweaksInterface
import TweaksSystem
import Tweaks

/// The service manager that started this process and wants to be told, by `Type=notify` or `notify-reload`.
///
/// Nothing here ever waits for it. What cannot be sent is lost, and described for the log.
package struct ServiceManager: Sendable {
    private let socket: NotifySocket

    /// The one that `NOTIFY_SOCKET` names; nil when none is to be told.
    package init?(environment: [String: String]) throws(ServerError) {
        guard let address = environment["NOTIFY_SOCKET"], !address.isEmpty else { return nil }
        socket = try NotifySocket(address)
    }

    /// The start, or a reload, is complete.
    /// - Returns: As with all of these, nil when it was sent, else what went wrong.
    @discardableResult package func ready(status: String? = nil) -> String? {
        socket.send(["READY=1"] + (status.map { [Self.line(status: $0)] } ?? []))
    }

    /// A reload begins; it ends with ``ready(status:)``. The manager tells answers to its own request from older ones
    /// by the time, and wants both in one message.
    @discardableResult package func reloading() -> String? {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        return socket.send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"])
    }

    /// The process is about to end.
    @discardableResult package func stopping() -> String? { socket.send(["STOPPING=1"]) }

    /// A line for `systemctl status`.
    @discardableResult package func status(_ text: String) -> String? { socket.send([Self.line(status: text)]) }

    /// The manager drops messages beyond 4,096 bytes as a whole.
    private static let longestStatus = 1_000

    /// A line end would begin another assignment.
    private static func line(status text: String) -> String {
        var scalars = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            if count > longestStatus {
                scalars.append("…")
                break
            }
            scalars.append(Quoting.isUnsafe(scalar) ? " " : scalar)
        }
        return "STATUS=\(String(scalars))"
    }
}
