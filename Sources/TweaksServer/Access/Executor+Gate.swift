// Whether a request is looked at.

import Tweaks
import TweaksWire

extension Executor {
    /// Lets a request pass, or says what it lacks.
    func admit(_ request: Request, _ session: Session) throws(TweakError) {
        let need = request.needs
        if need == .nothing { return }
        guard session.isAdmitted else {
            throw TweakError(.authRequired, "show a token first: auth TOKEN; tweakctl login keeps one for you")
        }
        if session.grants.rights.meets(need) { return }
        tell(.denied(command: request.command, path: nil), session)
        throw session.grants.rights.denied(need)
    }

    /// Whether a command is of use to this session.
    func isOffered(_ command: Command, _ session: Session) -> Bool {
        let need = command.needs
        return need == .nothing || session.isAdmitted && session.grants.rights.meets(need)
    }
}

extension Request {
    /// The word that it began with; `set` for an assignment.
    fileprivate var command: String {
        switch self {
        case .list: "ls"
        case .setFor: "set"
        default:
            // Cases are called what the commands are called.
            String(describing: self).prefix { $0 != "(" }.description
        }
    }
}

extension Rights {
    /// What is lacking.
    func denied(_ need: Need) -> TweakError {
        let wanted =
            switch need {
            case .nothing, .session, .sight: "read"
            case .some(let kind): kind.rawValue
            case .whole(let kind): "\(kind.rawValue) for everything"
            }
        let had = words.isEmpty ? "nothing" : words.joined(separator: " ")
        return TweakError(.denied, "this needs \(wanted), and this session may \(had); request it, or show a token")
    }

    /// The same for one tweak that is seen.
    func denied(_ kind: TweakScope.Kind, _ path: TweakPath) -> TweakError {
        let had = words.isEmpty ? "nothing" : words.joined(separator: " ")
        return TweakError(
            .denied,
            "\(path.token): this session may \(had); request \(kind.rawValue):\(path.joined), or show a token",
            path: path)
    }
}
