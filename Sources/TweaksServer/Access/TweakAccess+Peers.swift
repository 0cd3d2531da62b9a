// Decides the rights of a peer on the Unix socket.

import Tweaks
import TweaksInterface
import TweaksSystem

extension TweakAccess {
    /// Whether other users have to be able to open the socket.
    var isShared: Bool { !users.isEmpty || !groups.isEmpty }

    /// What the user at the other end of a Unix socket may do; nil when it may not be here.
    /// - Parameters:
    ///   - groups: Its supplementary groups, asked for when they matter.
    ///   - namespace: Which users and groups can be told from others.
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
