// A minimal web server that provides another origin and records its requests.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
import Synchronization

/// Serves given bytes at given paths on a port of 127.0.0.1. Deallocation stops it.
package final class PageServer: Sendable {
    /// What is served at a path.
    package struct Page: Sendable {
        package var bytes: [UInt8]
        package var type: String
        /// Additional header fields: `Content-Security-Policy: …`.
        package var fields: [String]

        /// A page from text.
        package init(_ text: String, type: String = "text/html; charset=utf-8", fields: [String] = []) {
            (bytes, self.type, self.fields) = (Array(text.utf8), type, fields)
        }

        fileprivate var answer: [UInt8] {
            let head = ["HTTP/1.1 200 OK", "Content-Type: \(type)", "Content-Length: \(bytes.count)"]
            return Array((head + fields + ["Connection: close", "", ""]).joined(separator: "\r\n").utf8) + bytes
        }
    }

    /// A received request.
    package struct Request: Equatable, Sendable {
        package let method: String
        package let target: String
        /// The fields by their names in lower case.
        package let fields: [String: String]
        package let body: String
    }

    /// The received requests, and whether the server has stopped.
    private final class RequestLog: Sendable {
        let requests = Mutex<[Request]>([])
        let hasStopped = Mutex(false)
        /// The accepted connections.
        let connections = Mutex<Set<Int32>>([])
        /// One line for each request.
        let lines = LogLines()
    }

    package let port: Int
    private let log = RequestLog()

    /// Starts a server.
    /// - Parameters:
    ///   - pages: The pages by path; other paths are not found.
    ///   - wanted: The port; 0 picks a free one.
    package init(_ pages: [String: Page], port wanted: Int = 0) throws {
        let listener = try BoundSocket(loopback: .version4, port: wanted, backlog: 64)
        port = listener.port
        let log = log
        Thread.detachNewThread {
            while true {
                let accepted: Int32
                do {
                    accepted = try listener.accepted()
                } catch ClientError.system(_, let code) where code == ECONNABORTED || code == EAGAIN {
                    // A connection has ended before it was accepted, or there was none for long.
                    continue
                } catch {
                    break
                }
                if log.hasStopped.withLock({ $0 }) {
                    _ = systemClose(accepted)
                    break
                }
                // Browsers open connections that they may never use, so each one has its own thread.
                log.connections.withLock { _ = $0.insert(accepted) }
                Thread.detachNewThread {
                    let client = TestClient(accepted: accepted)
                    try? Self.serve(client, pages, log)
                    withExtendedLifetime(client) { log.connections.withLock { _ = $0.remove(accepted) } }
                }
            }
        }
    }

    deinit {
        log.hasStopped.withLock { $0 = true }
        // Wakes the accepting thread.
        _ = try? TestClient(port: port)
        // A browser must not send its next request to this server by a connection that it has opened in advance.
        log.connections.withLock { connections in
            for number in connections { shutdown(number, Int32(SHUT_RDWR)) }
        }
    }

    /// All requests so far.
    package var requests: [Request] { log.requests.withLock { $0 } }

    /// The address of a path, at a host name of this machine.
    package func address(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(path)" }

    /// Waits for the first request for a target. Nil when it does not arrive within the timeout.
    package func request(_ method: String, _ target: String) -> Request? {
        log.lines.firstIndex(from: 0) { $0 == "\(method) \(target)" }.map { requests[$0] }
    }

    // MARK: Serving

    private static func serve(_ client: TestClient, _ pages: [String: Page], _ log: RequestLog) throws {
        let lines = try client.read(through: "\r\n\r\n").split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ").map(String.init)
        guard words.count == 3 else { return }
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (parts[0].lowercased(), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        let named = Dictionary(fields) { "\($0), \($1)" }
        let body = try client.bytes(named["content-length"].flatMap { Int($0) } ?? 0)
        let request = Request(
            method: words[0], target: words[1], fields: named, body: String(decoding: body, as: UTF8.self))
        log.requests.withLock { requests in
            requests.append(request)
            log.lines.note("\(request.method) \(request.target)")
        }
        let path = String(request.target.prefix { $0 != "?" })
        try client.send(pages[path]?.answer ?? notFound)
        client.endInput()
        _ = try? client.rest()
    }

    private static let notFound = Array("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
}
