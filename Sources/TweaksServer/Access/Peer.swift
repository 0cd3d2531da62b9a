// Identifies the client of a connection: its user as the kernel knows it, its browser window.

import Tweaks
import TweaksInterface
import TweaksSystem
import TweaksWire

/// The client at the other end of a connection.
struct Peer {
    let transport: TweakSession.Transport
    /// The display text: `uid 1000 pid 4711`, or an address with its port.
    private(set) var text: String
    /// The origin of its changes until it shows a token.
    private(set) var origin: TweakOrigin
    /// The key under which failed logins and connections are counted: a user, or an address without its port, with the
    /// user on loopback where the kernel says it.
    let clientKey: String
    /// Tells callers of the program apart; nil for a client of a listener.
    let caller: [UInt8]?
    var userID: UInt32?
    var processID: Int32?

    /// Creates a user of this machine on a Unix socket; nil if the kernel does not report one.
    init(_ user: Platform.PeerUser?) {
        transport = .unix
        let name = user.map { TweakOrigin.user($0.user) } ?? TweakOrigin("unknown user")
        let process = user?.process
        text = name.description + (process.map { " pid \($0)" } ?? "")
        origin = name.through(TweakConnection(transport: transport.rawValue, peer: text))
        clientKey = name.description
        caller = nil
        userID = user?.user
        processID = process
    }

    /// Creates a TCP client from its address and port.
    /// - Parameter user: The user who owns the client's socket, if that is known. It gives no rights.
    init(address: String, port: UInt16, user: UInt32? = nil, _ transport: TweakSession.Transport = .tcp) {
        self.transport = transport
        text = "\(address):\(port)"
        origin = TweakOrigin(text).through(TweakConnection(transport: transport.rawValue, peer: text))
        clientKey = user.map { "\(address) \(TweakOrigin.user($0))" } ?? address
        caller = nil
    }

    /// Creates a caller that the program has authenticated, behind a router of its own.
    /// - Parameter name: The program's name of the caller. A word before it tells it from tokens and users.
    init(caller name: String) {
        transport = .http
        text = "router"
        let identity = TweakOrigin("caller \(name)")
        origin = identity.through(TweakConnection(transport: transport.rawValue, peer: text))
        clientKey = identity.description
        caller = SHA256.digest(identity.description.utf8)
    }

    /// Whether all that the kernel keeps for it is in the queue of its own end.
    var isLocal: Bool { transport == .unix || caller != nil }

    mutating func setUserAgent(_ program: String) {
        text = "\(text) \(Quoting.sanitized(program))"
        origin = origin.through(TweakConnection(transport: transport.rawValue, peer: text))
    }
}

extension TweakAccess {
    /// Whether other users need access to the socket file.
    var isShared: Bool { !users.isEmpty || !groups.isEmpty }

    /// The scopes of the user at the other end of a Unix socket; nil if the user is refused.
    /// - Parameters:
    ///   - groups: The user's supplementary groups, evaluated only when needed.
    ///   - namespace: The users and groups that the kernel distinguishes.
    func scopes(
        of peer: Platform.PeerUser?, in namespace: UserNamespace = .current, groups: () -> [UInt32]
    ) -> [TweakScope]? {
        guard let peer = namespace.known(peer) else { return nil }
        if peer.user == ThisProcess.user || peer.user == 0 { return [.admin] }
        var given: [[TweakScope]] = users[peer.user].map { [$0] } ?? []
        if !self.groups.isEmpty {
            let known = Set([peer.group] + groups()).filter(namespace.groups.knows)
            given += known.compactMap { self.groups[$0] }
        }
        return given.isEmpty ? nil : given.flatMap(\.self)
    }
}

/// The users and groups of this process's user namespace (user_namespaces(7)).
///
/// An unmapped user arrives on a Unix socket as the overflow number, 65534 by default. If the namespace maps that
/// number as well, the two cannot be distinguished and get no rights.
package struct UserNamespace: Equatable, Sendable {
    /// The mapped numbers, as seen inside the namespace.
    struct Extent: Equatable, Sendable {
        let ranges: [Range<UInt64>]
        /// The number of all unmapped users; nil if every user is mapped.
        let overflow: UInt32?

        /// - Parameters:
        ///   - map: The lines `inside outside count` of `/proc/self/uid_map`; nil means that every number is mapped.
        ///   - overflow: The number in `/proc/sys/kernel/overflowuid`.
        init(map: String?, overflow: String?) {
            let lines = (map ?? "").split(separator: "\n").map { $0.split(separator: " ").compactMap { UInt64($0) } }
            ranges = lines.filter { $0.count == 3 && $0[0] <= UInt32.max }.map {
                $0[0]..<($0[0] + min($0[2], 1 << 32))
            }
            // −1 is not a user.
            let isWhole = ranges.isEmpty || ranges.reduce(0) { $0 + $1.count } >= UInt32.max
            self.overflow = isWhole ? nil : overflow?.split(separator: "\n").first.flatMap { UInt32($0) } ?? 65_534
        }

        /// Whether a number always means the same single user.
        func knows(_ number: UInt32) -> Bool {
            guard let overflow else { return true }
            return number != overflow && ranges.contains { $0.contains(UInt64(number)) }
        }
    }

    let users: Extent
    let groups: Extent

    package static let current = UserNamespace(
        users: Extent(
            map: Platform.text(of: "/proc/self/uid_map"), overflow: Platform.text(of: "/proc/sys/kernel/overflowuid")),
        groups: Extent(
            map: Platform.text(of: "/proc/self/gid_map"), overflow: Platform.text(of: "/proc/sys/kernel/overflowgid")))

    init(users: Extent, groups: Extent) {
        self.users = users
        self.groups = groups
    }

    /// Returns the peer if its user can be distinguished, else nil.
    func known(_ peer: Platform.PeerUser?) -> Platform.PeerUser? {
        guard let peer, users.knows(peer.user) else { return nil }
        return peer
    }

    /// Warnings about users and groups that cannot be distinguished, each with the remedy, for the log at startup.
    /// - Parameters:
    ///   - userID: The user of this process.
    ///   - access: The other users and groups that the program names.
    package func warnings(userID: UInt32, _ access: TweakAccess) -> [String] {
        var warnings: [String] = []
        if !users.knows(userID) {
            warnings.append(
                "this process runs as uid \(userID), as which every user from outside its user namespace arrives: its own "
                    + "user is refused on the Unix socket; run it as another user (User=), or log in with tokens over TCP"
            )
        }
        let strangers = [
            ("uid", access.users.keys.filter { !users.knows($0) }),
            ("gid", access.groups.keys.filter { !groups.knows($0) }),
        ]
        for (word, numbers) in strangers where !numbers.isEmpty {
            let list = numbers.sorted().map { "\(word) \($0)" }.joined(separator: ", ")
            warnings.append(
                "\(list) cannot be told apart in this user namespace and will be refused on the Unix socket; map them "
                    + "into it (PrivateUsers=no), or log in with tokens over TCP")
        }
        return warnings
    }
}

/// Asks the kernel which user owns the client's end of a connection on loopback (Linux, sock_diag(7)). It only tells
/// clients apart, for quotas, and gives no rights. Elsewhere, and in a sandbox without netlink sockets, it knows none.
final class LoopbackUsers {
    private var socket: Descriptor?
    /// Whether the kernel has named the owner of a connection of our own: without its module it knows no connection at
    /// all, and each question would look for the module. Clients have no influence on that proof.
    private var isProven = false
    /// The proofs that may still fail; a lack of descriptors or memory may be over soon.
    private var attemptsLeft = 8

    init() {
        #if os(Linux)
            let number = tweaks_diag_open()
            socket = number < 0 ? nil : Descriptor(number)
        #endif
    }

    /// The user at the other end; nil if the kernel does not say it. Never blocks.
    func user(of connection: Int32) -> UInt32? {
        #if os(Linux)
            guard let number = socket?.number, isProven || prove(number) else { return nil }
            return UInt32(exactly: tweaks_diag_user(number, connection, 1))
        #else
            return nil
        #endif
    }

    #if os(Linux)
        /// Asks about a connection of our own; gives up after several failures.
        private func prove(_ number: Int32) -> Bool {
            isProven = tweaks_diag_works(number) != 0
            if isProven { return true }
            attemptsLeft -= 1
            if attemptsLeft == 0 { socket = nil }
            return false
        }
    #endif
}

/// A browser window. It exists while it has a connection. Used on the I/O thread only.
final class BrowserWindow {
    fileprivate let key: BrowserWindows.Key
    /// Identifies it in the origins of its changes, also after a restart of the process.
    let owner: UInt64
    /// The number of its first connection, used by `sessions` and `kick`.
    let number: UInt64
    fileprivate(set) var connections = 0
    /// The identity that its connections reported last: a name may be given over any of them.
    var origin: TweakOrigin?
    fileprivate(set) var earlierCommits: UInt64 = 0

    fileprivate init(_ key: BrowserWindows.Key, number: UInt64) {
        self.key = key
        self.number = number
        let digest = SHA256.digest(Array(key.id.utf8) + key.owner)
        owner = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } | 1
    }
}

/// The browser windows of a server.
struct BrowserWindows {
    /// A window's ID counts only together with a token, or a caller of the program: no client joins the window of another.
    fileprivate struct Key: Hashable {
        let id: String
        let owner: [UInt8]
    }

    private var byKey: [Key: BrowserWindow] = [:]

    /// Assigns a session to its window after its window ID or token has changed.
    mutating func place(_ session: Session) {
        let key = session.identity.windowID.flatMap { id in
            (session.credentials.tokens.last?.digest ?? session.identity.peer.caller).map { Key(id: id, owner: $0) }
        }
        if session.identity.window?.key == key { return }
        remove(session)
        guard let key, session.credentials.lifecycle.state.reason == nil else { return }
        let window = byKey[key] ?? BrowserWindow(key, number: session.id.number)
        byKey[key] = window
        window.connections += 1
        session.identity.window = window
    }

    mutating func remove(_ session: Session) {
        guard let window = session.identity.window.take() else { return }
        window.connections -= 1
        window.earlierCommits += session.changes.commits
        if window.connections == 0 { byKey[window.key] = nil }
    }

    func hasOthers(_ session: Session) -> Bool { session.identity.window.map { $0.connections > 1 } ?? false }
}
