// What the program is told of what its sessions do.

import Tweaks

extension Executor {
    /// Says that a change was refused. That somebody may not make it is said where that is found out.
    func tellRefused(_ error: TweakError, _ session: Session) {
        guard let tell = hooks.onSessionEvent, error.code != .denied, error.code != .authRequired else { return }
        tell(TweakSessionEvent(session: session.facts, kind: .refused(error)))
    }
}

extension Session {
    /// What can be said of it now.
    var facts: TweakSession {
        TweakSession(
            id: id.number, transport: peer.transport, peer: peer.text, userID: peer.userID, processID: peer.processID,
            identity: origin, scopes: grants.rights.words, state: isAdmitted ? .open : .opening)
    }
}
