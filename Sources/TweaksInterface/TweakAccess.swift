// Grants rights to other users on a Unix socket, and to sessions that request them.

import Synchronization
public import Tweaks

/// The access rules of a server for peers other than its own user.
///
/// On a Unix socket the kernel identifies the peer. The process's own user and root may do everything; others are
/// rejected unless they are named here.
///
/// ```swift
/// let access = TweakAccess(users: [1001: [.read]], groups: [27: ["write:Label", .run]])
/// try TweakDaemon.start("bounce", access: access, tweaks: Look.all)
/// ```
///
/// If users or groups are named, every user can connect to the socket (mode 0666), and each connection is checked by
/// its user. The directory of the socket must be accessible to them too: the default one, in `XDG_RUNTIME_DIR`, is not;
/// name another one in `TWEAKS_SOCKET`.
public struct TweakAccess: Sendable {
    /// Users of this machine by number, with their rights. An empty list lets a user connect only to authenticate with
    /// a token.
    public var users: [UInt32: [TweakScope]]
    /// The same for groups, primary or supplementary. A member of several groups has the rights of all of them.
    public var groups: [UInt32: [TweakScope]]
    /// The rights that a session gets by `request` without asking the program.
    public var grants: [TweakScope]
    /// Called when a session requests more than ``grants``; without it, such requests are declined. Runs on its own
    /// queue, one request at a time; only the requesting session waits for it.
    public var onRequest: (@Sendable (TweakScopeRequest) -> Void)?

    /// Creates access rules; the defaults admit no other user and grant nothing on request.
    /// - Parameters:
    ///   - users: Users of this machine by number, with their rights.
    ///   - groups: The same for groups.
    ///   - grants: The rights that a session gets on request.
    ///   - onRequest: Called when a session requests more than that, on its own queue.
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

/// A session's request for more rights. The program can decide at once, later on any thread, or never: until then the
/// session continues without these rights; it is notified of the decision.
///
/// ```swift
/// TweakAccess(onRequest: { request in
///     request.scopes == [.read] ? request.allow() : request.decline()
/// })
/// ```
public final class TweakScopeRequest: Sendable {
    /// The requesting session when it made the request.
    public let session: TweakSession
    /// The requested rights, all or nothing.
    public let scopes: [TweakScope]
    private let decision = Mutex<Bool?>(nil)
    /// Called once, with the first decision.
    private let whenDecided: @Sendable (TweakScopeRequest) -> Void

    package init(
        _ session: TweakSession, _ scopes: [TweakScope], whenDecided: @escaping @Sendable (TweakScopeRequest) -> Void
    ) {
        self.session = session
        self.scopes = scopes
        self.whenDecided = whenDecided
    }

    /// Grants the rights until the session ends or gives them up. Only the first decision counts; it has no effect on a
    /// session that has ended. May be called on any thread.
    public func allow() { decide(true) }

    /// Declines the rights; further requests for the same rights are declined without asking. Only the first decision
    /// counts. May be called on any thread.
    public func decline() { decide(false) }

    /// The decision; nil until there is one.
    package var isAllowed: Bool? { decision.withLock { $0 } }

    private func decide(_ isAllowed: Bool) {
        let isFirst = decision.withLock { decision in
            defer { decision = decision ?? isAllowed }
            return decision == nil
        }
        if isFirst { whenDecided(self) }
    }
}
