// What the program is told of what its sessions want, and do not get.

import Tweaks

extension Executor {
    /// Says that a change was refused. That somebody may not make it is said where that is found out.
    func tellRefused(_ error: TweakError, _ session: Session) {
        if error.code != .denied, error.code != .authRequired { tell(.refused(error), session) }
    }
}
