// Tells which users the kernel can tell apart: those that a user namespace does not have share one number.

/// The users and groups of this process's user namespace (user_namespaces(7)).
///
/// A user that the namespace does not have arrives on a Unix socket as the overflow number, 65534 by default. Where the
/// namespace has that number, too, they cannot be told apart, and get nothing.
package struct UserNamespace: Equatable, Sendable {
    /// Numbers, as seen from inside.
    struct Extent: Equatable, Sendable {
        let ranges: [Range<UInt64>]
        /// The number of all others; nil where there are no others.
        let overflow: UInt32?

        /// - Parameters:
        ///   - map: The lines `inside outside count` of `/proc/self/uid_map`; without one every number is there.
        ///   - overflow: The number in `/proc/sys/kernel/overflowuid`.
        init(map: String?, overflow: String?) {
            let lines = (map ?? "").split(separator: "\n").map { $0.split(separator: " ").compactMap { UInt64($0) } }
            ranges = lines.filter { $0.count == 3 }.map { $0[0]..<($0[0] + min($0[2], 1 << 32)) }
            // −1 is no user.
            let isWhole = ranges.isEmpty || ranges.reduce(0) { $0 + $1.count } >= UInt32.max
            self.overflow = isWhole ? nil : overflow?.split(separator: "\n").first.flatMap { UInt32($0) } ?? 65_534
        }

        /// Whether a number means one user, and always the same.
        func knows(_ number: UInt32) -> Bool {
            guard let overflow else { return true }
            return number != overflow && ranges.contains { $0.contains(UInt64(number)) }
        }
    }

    let users: Extent
    let groups: Extent

    /// That of this process.
    package static let current = UserNamespace(
        users: Extent(
            map: Platform.text(of: "/proc/self/uid_map"), overflow: Platform.text(of: "/proc/sys/kernel/overflowuid")),
        groups: Extent(
            map: Platform.text(of: "/proc/self/gid_map"), overflow: Platform.text(of: "/proc/sys/kernel/overflowgid")))

    init(users: Extent, groups: Extent) { (self.users, self.groups) = (users, groups) }

    /// A peer as far as it can be told from others; nil where it cannot.
    func known(_ peer: Platform.PeerUser?) -> Platform.PeerUser? {
        guard let peer, users.knows(peer.user) else { return nil }
        return peer
    }

    /// What cannot be told apart, each with the remedy: for the log at the start.
    /// - Parameters:
    ///   - userID: The user of this process.
    ///   - access: Who else is named.
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
