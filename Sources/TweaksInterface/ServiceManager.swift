// Notifies systemd of the process's state, by the protocol of sd_notify(3).

import Tweaks
import TweaksSystem

/// The service manager that started this process with `Type=notify` or `notify-reload`.
///
/// No call blocks. A message that cannot be sent is lost; the error is returned for the log.
package struct ServiceManager: Sendable {
    private let address: String
    private let socket: UnixDatagrams

    /// The service manager of `NOTIFY_SOCKET`; nil if the variable is not set.
    package init?(environment: [String: String]) throws(ServerError) {
        guard let address = Self.text("NOTIFY_SOCKET", environment) else { return nil }
        self.address = address
        let isAbstract = address.hasPrefix("@")
        guard isAbstract || address.hasPrefix("/") else {
            throw Self.error(
                address, "only absolute paths and abstract names (@name) are supported; use one of them")
        }
        let name = isAbstract ? [0] + address.utf8.dropFirst() : Array(address.utf8)
        guard name.count > 1 else { throw Self.error(address, "it names nothing; unset it") }
        let maxLength = UnixDatagrams.maxLength(isAbstract: isAbstract)
        guard name.count <= maxLength else {
            throw Self.error(address, "a socket's address holds at most \(maxLength) bytes; use a shorter one")
        }
        guard let socket = UnixDatagrams(name) else {
            throw Self.error(address, "there is a zero byte in it; use another one")
        }
        self.socket = socket
    }

    /// A variable that is not empty.
    private static func text(_ name: String, _ environment: [String: String]) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func error(_ address: String, _ problem: String) -> ServerError {
        ServerError("NOTIFY_SOCKET=\(address): \(problem)")
    }

    /// Whether a service manager has started this process. Programs in the terminals of some desktops inherit
    /// systemd's `INVOCATION_ID`, but services do not write to a terminal.
    package static func hasStarted(_ environment: [String: String], isOnTerminal: Bool) -> Bool {
        text("NOTIFY_SOCKET", environment) != nil || text("INVOCATION_ID", environment) != nil && !isOnTerminal
    }

    /// Reports that the start, or a reload, is complete.
    /// - Parameter status: A line for `systemctl status`.
    /// - Returns: For this and the other messages: nil if it was sent, otherwise the error.
    @discardableResult package func ready(status: String? = nil) -> String? {
        send(["READY=1"] + (status.map { [Self.line(status: $0)] } ?? []))
    }

    /// Reports that a reload begins; ``ready(status:)`` ends it. The manager uses the time to match replies with
    /// its requests, and requires both fields in one message.
    @discardableResult package func reloading() -> String? {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        return send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"])
    }

    /// Sets the line for `systemctl status`.
    @discardableResult package func show(status: String) -> String? { send([Self.line(status: status)]) }

    /// Reports that the process is alive, for `WatchdogSec=`.
    @discardableResult package func notifyWatchdog() -> String? { send(["WATCHDOG=1"]) }

    /// Reports that the process is stopping.
    @discardableResult package func stopping() -> String? { send(["STOPPING=1"]) }

    /// Sends the assignments as one datagram, without blocking.
    private func send(_ assignments: [String]) -> String? {
        guard let code = socket.send(Array(assignments.joined(separator: "\n").utf8)) else { return nil }
        let reason = code == EAGAIN ? "the service manager does not read" : errorText(code)
        return Self.error(address, "\(reason); it was not notified").description
    }

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
