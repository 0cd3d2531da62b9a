// Defines the permissions that commands require.

package import Tweaks

/// The permission that a request requires. The scope is checked for each tweak when the request is executed.
package enum RequiredPermission: Equatable, Sendable {
    /// None: also allowed before authentication.
    case nothing
    /// An authenticated session.
    case session
    /// Access to see some values, or some actions that may be run.
    case visibility
    /// This kind of access to some tweak.
    case some(TweakScope.Kind)
    /// This kind of access to all tweaks, because it cannot be limited to a few.
    case whole(TweakScope.Kind)
}

extension Rights {
    /// Whether a request with this permission may be executed.
    package func meets(_ permission: RequiredPermission) -> Bool {
        switch permission {
        case .nothing, .session: true
        case .visibility: has(.read) || has(.run)
        case .some(let kind): has(kind)
        case .whole(let kind): isWhole(kind)
        }
    }
}
