// What the program is told of what its sessions want, and do not get.

import Tweaks

extension Executor {
    /// Says that a change was refused. That somebody may not make it is said where that is found out.
    func tellRefused(_ error: TweakError, _ session: Session) {
        if error.code != .denied, error.code != .authRequired { tell(.refused(error), session) }
    }

    /// Says that somebody may not do with a tweak what a command would.
    func tellDenied(_ error: TweakError, _ command: String, _ session: Session) {
        if error.code == .denied, let path = error.path { tell(.denied(command: command, path: path), session) }
    }
}
