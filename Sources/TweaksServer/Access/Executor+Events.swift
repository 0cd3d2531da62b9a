// Reports refused changes and denied commands to the program.

import Tweaks

extension Executor {
    /// Reports a refused change. Denials are reported where they are detected.
    func notifyRefused(_ error: TweakError, _ session: Session) {
        if error.code != .denied, error.code != .authRequired { notify(.refused(error), session) }
    }

    /// Reports that a session lacks the right to run a command on a tweak.
    func notifyDenied(_ error: TweakError, _ command: String, _ session: Session) {
        if error.code == .denied, let path = error.path { notify(.denied(command: command, path: path), session) }
    }
}
