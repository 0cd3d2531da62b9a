// Who made a change, and through what.

/// Who or what made a commit, as `explain`, events and logs show it.
public struct TweakOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The text people see: `code`, `uid 1000`, `config file`.
    public let description: String
    /// The connection that it came over, for the audit; nil where it came over none. Whoever it is stays the same over
    /// another one.
    package private(set) var connection: TweakConnection?

    /// An origin with a name of the program's own.
    /// - Parameter description: A few words; control characters are replaced.
    public init(_ description: String) { self.description = Quoting.sanitized(description) }

    /// The same, over a connection.
    package func through(_ connection: TweakConnection?) -> TweakOrigin {
        var origin = self
        origin.connection = connection
        return origin
    }

    /// The program itself.
    public static let code = TweakOrigin("code")
    /// A value read from the configuration file.
    public static let configFile = TweakOrigin("config file")
    /// A temporary override that has run out.
    public static let expired = TweakOrigin("expired")
    /// A user of this machine, known by the kernel's word at the other end of a Unix socket.
    public static func user(_ uid: UInt32) -> TweakOrigin { TweakOrigin("uid \(uid)") }

    /// Whether both are the same, by name.
    public static func == (left: TweakOrigin, right: TweakOrigin) -> Bool { left.description == right.description }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// How somebody was connected, and who that was. One for each connection: origins only point to it.
package final class TweakConnection: Sendable {
    /// `unix socket`, `tcp` or `http`.
    package let transport: String
    /// `uid 1000 pid 4711`, or an address with its port.
    package let peer: String

    package init(transport: String, peer: String) { (self.transport, self.peer) = (transport, peer) }
}
