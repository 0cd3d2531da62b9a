// Defines sources of values beside the config file, which other modules implement.

package import Tweaks

extension TweakDaemon {
    /// A source of values for many processes, such as a fleet in etcd: `sources: [.etcd()]` with the module
    /// `TweaksFleet`. Its values rank above those of the config file and below overrides.
    public struct Source: Sendable {
        package let open: @Sendable (SourceContext) throws(ServerError) -> (any RunningSource)?

        /// - Parameter open: Returns a running source, or nil if none is configured.
        package init(open: @escaping @Sendable (SourceContext) throws(ServerError) -> (any RunningSource)?) {
            self.open = open
        }
    }
}

/// The information that a daemon passes to its sources when it opens them.
package struct SourceContext: Sendable {
    /// The daemon's name.
    package let name: String
    package let registry: TweakRegistry
    package let environment: [String: String]
    /// A directory for files; nil where nothing is stored, or another process has the directory.
    package let directory: String?
    /// Logs an event of the source.
    package let log: @Sendable (TweakDaemonEvent) -> Void

    package init(
        name: String, registry: TweakRegistry, environment: [String: String], directory: String?,
        log: @escaping @Sendable (TweakDaemonEvent) -> Void
    ) {
        (self.name, self.registry, self.environment) = (name, registry, environment)
        (self.directory, self.log) = (directory, log)
    }
}

/// A running source of a daemon.
package protocol RunningSource: Sendable {
    /// Applies the last good state from disk; called once, before the sockets are open.
    func applySaved()
    /// Starts following the source.
    func start()
    /// Stops, and returns when none of its work is running.
    func stop()
    /// Its metrics in `stats`.
    var metrics: [(String, JSON)] { get }
}
