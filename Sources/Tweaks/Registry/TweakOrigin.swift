// Defines the origin of a change: who made it, over which connection, and under which display name.

/// Who or what made a commit, as `explain`, events and logs show it.
public struct TweakOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The displayed text: `code`, `uid 1000`, `config file`; with a name that the client gave, `uid 1000 (Ada)`.
    public private(set) var description: String
    /// The connection, for the audit log; nil without one. Comparisons ignore it: an origin stays the same over another
    /// connection.
    package private(set) var connection: TweakConnection?

    /// An origin that the program names.
    /// - Parameter description: A few words; control characters are replaced.
    public init(_ description: String) { self.description = Quoting.sanitized(description) }

    /// The same origin over a connection.
    package func through(_ connection: TweakConnection?) -> TweakOrigin {
        var origin = self
        origin.connection = connection
        return origin
    }

    /// The same origin with the name that a client gave; replaces an earlier name.
    package func named(_ name: DisplayName?) -> TweakOrigin {
        if name?.text == self.name { return self }
        var origin = self
        origin.description = identity + (name.map { " (\($0.text))" } ?? "")
        origin.connection = TweakConnection(
            transport: connection?.transport ?? "", peer: connection?.peer ?? "", name: name?.text, window: window)
        return origin
    }

    /// The same origin in a browser window; 0 means none.
    package func inWindow(_ window: UInt64) -> TweakOrigin {
        if window == self.window { return self }
        var origin = self
        origin.connection = TweakConnection(
            transport: connection?.transport ?? "", peer: connection?.peer ?? "", name: name, window: window)
        return origin
    }

    /// The same origin, of a value that a process has as a member of a fleet's rollout.
    package func ofRollout(_ id: String?) -> TweakOrigin {
        id.map { through(TweakConnection(transport: "rollout", peer: $0)) } ?? self
    }

    /// The rollout of the value; nil for another one.
    package var rollout: String? { connection.flatMap { $0.transport == "rollout" ? $0.peer : nil } }

    /// The browser window; 0 without one.
    package var window: UInt64 { connection?.window ?? 0 }

    /// Whether changes of the other are its own, to undo: those of the same browser window, under any name, or without
    /// one, of the same description.
    package func isSameOwner(as other: TweakOrigin) -> Bool {
        window == other.window && (window != 0 || self == other)
    }

    /// Whether the other is the same client, under any display name: their changes can be one entry of the history.
    // Most changes in a row are of one connection, or of the program: inlined, that costs no copy of a record, which would
    // be 140 instructions of a commit.
    @inline(__always) func isSameClient(as other: TweakOrigin) -> Bool {
        connection === other.connection && self == other || hasSameIdentity(as: other)
    }

    @inline(never) private func hasSameIdentity(as other: TweakOrigin) -> Bool {
        window == other.window && (window != 0 || identity == other.identity)
    }

    /// The name that the client gave. It is not verified.
    public var name: String? { connection?.name }

    /// The verified part of the description, without the name that the client gave.
    package var identity: String {
        name.map { String(decoding: description.utf8.dropLast($0.utf8.count + 3), as: UTF8.self) } ?? description
    }

    /// The identity regardless of the connection: a user, a token's name, or an address without its port.
    package var client: String { Self.client(identity, connection?.peer) }

    /// The same for an identity and its peer. All loopback addresses count as one.
    package static func client(_ identity: String, _ peer: String?) -> String {
        // Works on bytes, because it runs for each log line.
        guard let peer, peer == identity || peer.utf8.starts(with: identity.utf8) else { return identity }
        var identity = identity
        return identity.withUTF8 { bytes in
            guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else {
                return String(decoding: bytes, as: UTF8.self)
            }
            let isLocal = bytes.starts(with: "127.".utf8)
            return isLocal ? "127.0.0.1" : String(decoding: bytes[..<colon], as: UTF8.self)
        }
    }

    /// The program itself.
    public static let code = TweakOrigin("code")
    /// The config file.
    public static let configFile = TweakOrigin("config file")
    /// The expiry of a temporary override.
    public static let expired = TweakOrigin("expired")
    /// A local user, identified by the kernel's peer credentials of a Unix socket.
    public static func user(_ uid: UInt32) -> TweakOrigin { TweakOrigin("uid \(uid)") }

    /// Compares the descriptions.
    public static func == (left: TweakOrigin, right: TweakOrigin) -> Bool { left.description == right.description }

    /// Hashes the description.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// A client connection. One object for each connection; origins refer to it. Transport and peer are empty in origins
/// that were read from a file.
package final class TweakConnection: Sendable {
    /// `unix socket`, `tcp` or `http`; `rollout` for a value of a fleet, which comes over no connection of a client.
    package let transport: String
    /// `uid 1000 pid 4711`, or an address with its port.
    package let peer: String
    /// The name that the client gave.
    package let name: String?
    /// The browser window, as a number that differs from those of others; 0 without one.
    package let window: UInt64

    package init(transport: String, peer: String, name: String? = nil, window: UInt64 = 0) {
        self.transport = transport
        self.peer = peer
        self.name = name
        self.window = window
    }
}

/// A display name that a user chooses, such as `Ada`. It is not authenticated, so it is shown in parentheses after the
/// authenticated identity: `uid 1000 (Ada)`. It contains no parentheses, so that it cannot imitate an identity.
package struct DisplayName: Hashable, Sendable {
    package let text: String

    /// The limit in Unicode scalars.
    package static let maxLength = 40

    /// - Parameter text: The name; surrounding blanks are removed.
    /// - Throws: `bad-value` if it is empty or too long, or contains invisible characters or brackets.
    package init(_ text: String) throws(TweakError) {
        var scalars = text.unicodeScalars[...]
        while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        guard (1...Self.maxLength).contains(scalars.count) else {
            throw TweakError(
                .badValue,
                "a name has 1 to \(Self.maxLength) characters, and this one has \(scalars.count); shorten it")
        }
        guard scalars.allSatisfy(Self.isAllowed), scalars.first?.isMark == false else {
            throw TweakError(
                .badValue, "a name holds no parentheses and no invisible characters; write it plainly, such as Ada")
        }
        self.text = String(scalars)
    }

    /// Stricter than other text: also selectors and joiners of emoji, which would not all be seen.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if Quoting.isUnsafe(scalar) { return false }
        switch scalar.properties.generalCategory {
        // The first two categories are the parentheses and brackets of all scripts.
        case .openPunctuation, .closePunctuation, .control, .format, .lineSeparator, .paragraphSeparator, .surrogate,
            .privateUse, .unassigned:
            return false
        default: return true
        }
    }
}

extension Unicode.Scalar {
    /// Whether it changes the character before it, which would be the parenthesis around the name.
    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
