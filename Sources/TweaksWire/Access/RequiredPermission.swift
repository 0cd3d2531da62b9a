// Defines the permissions that commands require.

package import Tweaks

/// The permission that a request asks for. Which tweaks it reaches is found out when it is carried out.
package enum RequiredPermission: Equatable, Sendable {
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

extension Rights {
    /// Whether a request that takes this is looked at.
    package func meets(_ permission: RequiredPermission) -> Bool {
        switch permission {
        case .nothing, .session: true
        case .sight: has(.read) || has(.run)
        case .some(let kind): has(kind)
        case .whole(let kind): isWhole(kind)
        }
    }
}
