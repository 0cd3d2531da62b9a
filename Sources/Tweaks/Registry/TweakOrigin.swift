// Who made a change, and through what.

/// Who or what made a commit, as `explain`, events and logs show it.
public struct TweakOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The text people see: `code`, `uid 1000`, `config file`; where a person has given a name, `uid 1000 (Ada)`.
    public private(set) var description: String
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

    /// The same, with the name that a person gives behind it, in place of an earlier one.
    package func named(_ name: PersonName?) -> TweakOrigin {
        if name?.text == self.name { return self }
        var origin = self
        origin.description = identity + (name.map { " (\($0.text))" } ?? "")
        origin.connection = TweakConnection(
            transport: connection?.transport ?? "", peer: connection?.peer ?? "", name: name?.text)
        return origin
    }

    /// The name that a person gives. Nothing proves it.
    public var name: String? { connection?.name }

    /// The same without that name: what is known, whatever people call themselves.
    package var identity: String {
        name.map { String(decoding: description.utf8.dropLast($0.utf8.count + 3), as: UTF8.self) } ?? description
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
    /// The name that the person there gives.
    package let name: String?

    package init(transport: String, peer: String, name: String? = nil) {
        (self.transport, self.peer, self.name) = (transport, peer, name)
    }
}
