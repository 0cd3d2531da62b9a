// Determines which users the kernel can distinguish: those unmapped in a user namespace share one number.

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

    /// The namespace of this process.
    package static let current = UserNamespace(
        users: Extent(
            map: Platform.text(of: "/proc/self/uid_map"), overflow: Platform.text(of: "/proc/sys/kernel/overflowuid")),
        groups: Extent(
            map: Platform.text(of: "/proc/self/gid_map"), overflow: Platform.text(of: "/proc/sys/kernel/overflowgid")))

    init(users: Extent, groups: Extent) { (self.users, self.groups) = (users, groups) }

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
