// Grants rights to other users on a Unix socket, and to sessions that request them.

public import Tweaks

/// The rules of a server for peers other than its own user.
///
/// On a Unix socket the kernel says who is at the other end. The process's own user and root may do everything; others
/// are refused, but for those that are named here.
///
/// ```swift
/// let access = TweakAccess(users: [1001: [.read]], groups: [27: ["write:Label", .run]])
/// try TweakDaemon.start("bounce", access: access, tweaks: Look.all)
/// ```
///
/// Where users or groups are named, the socket's file lets everybody connect (mode 0666), and each connection is judged
/// by its user. The directory of the socket has to let them in as well: the default one, in `XDG_RUNTIME_DIR`, does not;
/// name another one in `TWEAKS_SOCKET`.
public struct TweakAccess: Sendable {
    /// Users of this machine by number, and what they may do. An empty list lets a user in to show a token.
    public var users: [UInt32: [TweakScope]]
    /// The same for groups, whether primary or supplementary. Who is in several has the rights of all.
    public var groups: [UInt32: [TweakScope]]
    /// What a session is given that asks for it with `request`, without a question to the program.
    public var grants: [TweakScope]
    /// Asked when a session requests more than ``grants``; without it, that is declined. Called on a queue of its own,
    /// one request at a time: only that session waits for its return.
    public var onRequest: (@Sendable (TweakScopeRequest) -> Void)?

    /// Rules; the defaults let no other user in, and give nothing on request.
    /// - Parameters:
    ///   - users: Users of this machine by number, and what they may do.
    ///   - groups: The same for groups.
    ///   - grants: What a session is given that asks for it.
    ///   - onRequest: Asked when a session requests more than that, on a queue of its own.
    public init(
        users: [UInt32: [TweakScope]] = [:], groups: [UInt32: [TweakScope]] = [:], grants: [TweakScope] = [],
        onRequest: (@Sendable (TweakScopeRequest) -> Void)? = nil
    ) {
        self.users = users
        self.groups = groups
        self.grants = grants
        self.onRequest = onRequest
    }
}
