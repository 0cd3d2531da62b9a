// Notifies systemd of the process's state, by the protocol of sd_notify(3).

package import TweaksInterface
import TweaksSystem
import Tweaks

/// The service manager that started this process with `Type=notify` or `notify-reload`.
///
/// No call blocks. A message that cannot be sent is lost; the error is returned for the log.
package struct ServiceManager: Sendable {
    private let socket: NotifySocket

    /// The service manager of `NOTIFY_SOCKET`; nil if the variable is not set.
    package init?(environment: [String: String]) throws(ServerError) {
        guard let address = environment["NOTIFY_SOCKET"], !address.isEmpty else { return nil }
        socket = try NotifySocket(address)
    }

    /// Whether a service manager has started this process. Programs in the terminals of some desktops inherit systemd's
    /// `INVOCATION_ID`, but services do not write to a terminal.
    package static func hasStarted(_ environment: [String: String], isOnTerminal: Bool) -> Bool {
        let has = { (name: String) in environment[name].map { !$0.isEmpty } ?? false }
        return has("NOTIFY_SOCKET") || has("INVOCATION_ID") && !isOnTerminal
    }

    /// Reports that the start, or a reload, is complete.
    /// - Returns: For this and the other messages: nil if it was sent, otherwise the error.
    @discardableResult package func ready(status: String? = nil) -> String? {
        socket.send(["READY=1"] + (status.map { [Self.line(status: $0)] } ?? []))
    }

    /// Reports that a reload begins; ``ready(status:)`` ends it. The manager uses the time to match replies with its
    /// requests, and requires both fields in one message.
    @discardableResult package func reloading() -> String? {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        return socket.send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"])
    }

    /// Reports that the process is stopping.
    @discardableResult package func stopping() -> String? { socket.send(["STOPPING=1"]) }

    /// Sends a status line for `systemctl status`.
    @discardableResult package func status(_ text: String) -> String? { socket.send([Self.line(status: text)]) }

    /// The manager drops messages longer than 4,096 bytes.
    private static let longestStatus = 1_000

    /// A line break would start another assignment.
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
