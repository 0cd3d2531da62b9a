// A minimal client of etcd's JSON gateway, which followers are compared with.

import Dispatch
import Foundation
import Synchronization

/// Puts keys over a persistent connection.
final class Gateway {
    private let connection: Connection

    init(port: UInt16) throws { connection = try Connection(port: port) }

    /// Puts a key and waits for the response.
    func put(_ key: [UInt8], _ value: [UInt8]) throws {
        let (key, value) = (Data(key).base64EncodedString(), Data(value).base64EncodedString())
        try connection.send(Self.request("kv/put", #"{"key":"\#(key)","value":"\#(value)"}"#))
        try connection.receiveBody()
    }

    static func request(_ path: String, _ body: String) -> [UInt8] {
        let head = "POST /v3/\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        return Array((head + body).utf8)
    }
}

/// A watch whose thread records the time of each event.
final class GatewayWatch: Sendable {
    private let isEstablished = DispatchSemaphore(value: 0)
    private let seen = DispatchSemaphore(value: 0)
    private let time = Mutex<UInt64>(0)

    /// Returns when the watch is established.
    init(port: UInt16, prefix: String) {
        let key = Data(prefix.utf8).base64EncodedString()
        // The end of a prefix is the prefix with its last byte increased; here that is a slash.
        let end = Data((prefix.dropLast() + "0").utf8).base64EncodedString()
        let request = Gateway.request("watch", #"{"create_request":{"key":"\#(key)","range_end":"\#(end)"}}"#)
        Thread.detachNewThread { [self] in
            guard let connection = try? Connection(port: port), (try? connection.send(request)) != nil else { return }
            try? Self.wait(for: Array(#""created":true"#.utf8), connection)
            isEstablished.signal()
            while (try? Self.wait(for: Array(#""events":["#.utf8), connection)) != nil {
                time.withLock { $0 = DispatchTime.now().uptimeNanoseconds }
                seen.signal()
            }
        }
        isEstablished.wait()
    }

    /// Waits for the next event and returns its time in nanoseconds of the monotonic clock.
    func next() -> UInt64 {
        seen.wait()
        return time.withLock { $0 }
    }

    private static func wait(for mark: [UInt8], _ connection: Connection) throws {
        var text: [UInt8] = []
        repeat { text += try connection.receiveSome() } while text.firstRange(of: mark) == nil
    }
}
