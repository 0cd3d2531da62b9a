// Names the client behind an origin regardless of its connection, for limits that count by client.

extension TweakOrigin {
    /// A user, a token's name, or an address without its port. All loopback addresses count as one.
    /// - Parameter peer: The peer's text; nil: that of the origin's connection.
    package func clientName(_ peer: String? = nil) -> String {
        Self.clientName(identity, peer ?? connection?.peer)
    }

    /// The same for a name and its peer.
    package static func clientName(_ name: String, _ peer: String?) -> String {
        // Works on bytes, because it runs for each log line.
        guard let peer, peer == name || peer.utf8.starts(with: name.utf8) else { return name }
        var name = name
        return name.withUTF8 { bytes in
            guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else {
                return String(decoding: bytes, as: UTF8.self)
            }
            let isLocal = bytes.starts(with: "127.".utf8)
            return isLocal ? "127.0.0.1" : String(decoding: bytes[..<colon], as: UTF8.self)
        }
    }
}
