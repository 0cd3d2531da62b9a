// Makes configurations of daemons for tests.

package import Tweaks
package import TweaksInterface

extension TweakDaemon.Configuration {
    /// No signals, no storage, a log that goes nowhere, and an environment of the test's own.
    package static func test(
        _ registry: TweakRegistry, _ environment: [String: String], _ change: (inout Self) -> Void = { _ in }
    ) -> Self {
        var configuration = Self()
        (configuration.storage, configuration.signals, configuration.isOnTerminal) = (.off, [], false)
        (configuration.registry, configuration.environment) = (registry, environment)
        configuration.onEvent = { _ in }
        change(&configuration)
        return configuration
    }
}
