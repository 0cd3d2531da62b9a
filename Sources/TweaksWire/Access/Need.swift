// What a session must be allowed before a request is looked at.

package import Tweaks

/// The right that a request asks for. Which tweaks it reaches is found out when it is carried out.
package enum Need: Hashable, Sendable {
    /// None: also before a session has shown who it is.
    case nothing
    /// To be let in.
    case session
    /// To see something: values, or actions that may be run.
    case sight
    /// This kind of access to some tweak.
    case some(TweakScope.Kind)
    /// This kind of access to all tweaks, because it cannot be limited to a few.
    case whole(TweakScope.Kind)
}

extension Request {
    /// What it needs. A request that is new here has to say so, or it does not compile.
    package var needs: Need {
        switch self {
        case .help, .hello, .json, .prompt, .ping, .quit, .auth, .whoami, .drop: .nothing
        case .request, .unwatch, .abort, .as: .session
        case .list, .get, .describe, .explain, .find, .modified, .watch, .export, .complete, .history, .presets, .diff,
            .stats:
            .sight
        case .set, .setFor, .keep, .check, .reset, .import, .begin, .commit, .save, .load: .some(.write)
        case .undo(let force, _), .redo(let force, _): .some(force ? .admin : .write)
        case .run: .some(.run)
        // It puts everything where the preset has it.
        case .swap: .whole(.write)
        case .conflicts, .reload, .delete, .sessions, .kick, .panel: .whole(.admin)
        }
    }
}

extension Rights {
    /// Whether a request with this need is looked at.
    package func meets(_ need: Need) -> Bool {
        switch need {
        case .nothing, .session: true
        case .sight: has(.read) || has(.run)
        case .some(let kind): has(kind)
        case .whole(let kind): isWhole(kind)
        }
    }
}
