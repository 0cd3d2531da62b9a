// Reads from the kernel how many bytes the TCP connections of a port hold.

import Foundation

/// The bytes in the kernel's buffers of one connection, on the server's side.
package struct SocketQueues {
    package let sent: Int
    package let received: Int
    /// Whether the server has ended its side.
    package let hasEnded: Bool

    /// Those of all connections of a port; empty where the system does not report them.
    package static func all(of port: Int, _ transport: Transport = .tcp4) -> [SocketQueues] {
        let file = "/proc/net/\(transport == .tcp4 ? "tcp" : "tcp6")"
        guard let text = text(of: file) else { return [] }
        let hex = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - hex.count) + hex
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let words = line.split(separator: " ")
            // Not the listener; of the connections, the bytes sent : received.
            guard words.count > 4, words[1].hasSuffix(suffix), words[3] != "0A" else { return nil }
            let queues = words[4].split(separator: ":").compactMap { Int($0, radix: 16) }
            guard queues.count == 2 else { return nil }
            // The end of a stream counts as a byte until the peer has acknowledged it, which a full client puts off.
            let endIsPending = ["04", "09", "0B"].contains(words[3])
            return SocketQueues(
                sent: max(0, queues[0] - (endIsPending ? 1 : 0)), received: queues[1],
                hasEnded: words[3] != "01" && words[3] != "08")
        }
    }

    /// Foundation stops at the first page of such a file.
    private static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var page = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&page, 1, page.count, file), count > 0 { bytes += page[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
