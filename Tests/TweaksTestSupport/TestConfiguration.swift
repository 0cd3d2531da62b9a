// Creates daemon configurations for tests.

package import Tweaks
package import TweaksInterface

extension TweakDaemon.Configuration {
    /// A configuration without signals, storage and log, with the given environment.
    package static func test(
        _ registry: TweakRegistry, _ environment: [String: String], _ change: (inout Self) -> Void = { _ in }
    ) -> Self {
        var configuration = Self()
        (configuration.storage, configuration.signals, configuration.isOnTerminal) = (.off, [], false)
        (configuration.registry, configuration.environment) = (registry, environment)
        configuration.onEvent = { _ in }
        // On a busy machine the audit may take longer than it may in production.
        configuration.limits.auditWait = .seconds(3_600)
        change(&configuration)
        return configuration
    }
}
