// Who made a change.

/// Who or what made a commit, as `explain`, events and logs show it.
public struct TweakOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The text people see: `code`, `uid 1000`, `config file`.
    public let description: String

    /// An origin with a name of the program's own.
    /// - Parameter description: A few words; control characters are replaced.
    public init(_ description: String) { self.description = Quoting.sanitized(description) }

    /// The program itself.
    public static let code = TweakOrigin("code")
    /// A value read from the configuration file.
    public static let configFile = TweakOrigin("config file")
    /// A temporary override that has run out.
    public static let expired = TweakOrigin("expired")
    /// A user of this machine, known by the kernel's word at the other end of a Unix socket.
    public static func user(_ uid: UInt32) -> TweakOrigin { TweakOrigin("uid \(uid)") }
}
