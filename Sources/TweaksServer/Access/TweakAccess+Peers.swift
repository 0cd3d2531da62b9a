// Decides the rights of a peer on the Unix socket.

import Tweaks
import TweaksInterface
import TweaksSystem

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
