// Notifies the service manager by datagrams to the socket that it names.

import TweaksInterface
import TweaksSystem

/// The socket that `NOTIFY_SOCKET` names.
struct NotifySocket: Sendable {
    private let text: String
    private let socket: UnixDatagrams

    init(_ text: String) throws(ServerError) {
        self.text = text
        let isAbstract = text.hasPrefix("@")
        guard isAbstract || text.hasPrefix("/") else {
            throw Self.error(text, "only absolute paths and abstract names (@name) are supported; use one of them")
        }
        let name = isAbstract ? [0] + text.utf8.dropFirst() : Array(text.utf8)
        guard name.count > 1 else { throw Self.error(text, "it names nothing; unset it") }
        let maxLength = UnixDatagrams.maxLength(isAbstract: isAbstract)
        guard name.count <= maxLength else {
            throw Self.error(text, "a socket's address holds at most \(maxLength) bytes; use a shorter one")
        }
        guard let socket = UnixDatagrams(name) else {
            throw Self.error(text, "there is a zero byte in it; use another one")
        }
        self.socket = socket
    }

    private static func error(_ text: String, _ problem: String) -> ServerError {
        ServerError("NOTIFY_SOCKET=\(text): \(problem)")
    }

    /// Sends the assignments as one datagram, without blocking.
    /// - Returns: The error; nil if it was sent.
    func send(_ assignments: [String]) -> String? {
        guard let code = socket.send(Array(assignments.joined(separator: "\n").utf8)) else { return nil }
        let reason = code == EAGAIN ? "the service manager does not read" : errorText(code)
        return Self.error(text, "\(reason); it was not notified").description
    }
}
