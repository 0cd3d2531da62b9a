// Checks whether a session may run a request.

import Tweaks
import TweaksWire

extension Executor {
    /// Throws unless the session has the right that the request needs.
    func authorize(_ request: Request, _ session: Session) throws(TweakError) {
        let permission = request.permission
        if permission == .nothing { return }
        guard session.isAdmitted else {
            throw TweakError(.authRequired, "sign in with a token first: auth TOKEN; tweakctl login keeps one for you")
        }
        if session.grants.rights.meets(permission) { return }
        notify(.denied(command: request.command.name, path: nil), session)
        throw session.grants.rights.denied(permission)
    }

    /// Throws unless the session has this right on a tweak that it sees.
    func require(_ kind: TweakScope.Kind, _ node: TweakNode, _ session: Session) throws(TweakError) {
        if !session.may(kind, node.path) { throw session.grants.rights.denied(kind, node.path) }
    }

    /// Returns the tweaks that a session may change. Leaves out the others; throws if none is left.
    func writable(_ nodes: [TweakNode], _ session: Session) throws(TweakError) -> [TweakNode] {
        if session.grants.rights.isWhole(.write) { return nodes }
        let writable = nodes.filter { session.may(.write, $0.path) }
        if writable.isEmpty, let first = nodes.first { throw session.grants.rights.denied(.write, first.path) }
        return writable
    }

    /// The commands that a session may use.
    func commands(for session: Session) -> [Command] {
        Command.all.filter { command in
            command.permission == .nothing || session.isAdmitted && session.grants.rights.meets(command.permission)
        }
    }
}

extension Rights {
    /// The error for a missing permission.
    func denied(_ permission: RequiredPermission) -> TweakError {
        let wanted =
            switch permission {
            case .nothing, .session, .visibility: "read"
            case .some(let kind): kind.rawValue
            case .whole(let kind): "\(kind.rawValue) for everything"
            }
        let had = words.isEmpty ? "nothing" : words.joined(separator: " ")
        return TweakError(
            .denied, "this needs \(wanted), and this session may \(had); request it, or sign in with a token")
    }
}
