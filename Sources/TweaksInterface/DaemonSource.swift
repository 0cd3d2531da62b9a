// Names the sources of a daemon's values beside the config file.

public import Tweaks

extension TweakDaemon {
    /// A source of values beside the config file: the environment, the command line, a fleet in etcd, or one of the
    /// program's own.
    ///
    /// ```swift
    /// try TweakDaemon.start("api", sources: [.environment(), .arguments, TweakDaemon.Source(Features())])
    /// ```
    ///
    /// Each has a layer of its own; of several values of a tweak, that of the layer with the highest rank is the current
    /// one. Two sources of one layer, or of layers with one name or rank, fail the start. A frozen process has none.
    public struct Source: Sendable {
        /// Makes a source for a daemon's name and its environment; nil if none is configured.
        package typealias Make = @Sendable (String, [String: String]) throws(ServerError) -> (any TweakValueSource)?

        package let make: Make
        /// The variables of daemons that it reads.
        package let variables: [String]
        /// Whether a process that has it handles `SIGHUP` and the command `reload`.
        package let isReloadable: Bool

        /// A source of the program's own. One object serves one daemon at a time.
        public init(_ source: any TweakValueSource) {
            make = { _, _ in source }
            variables = []
            isReloadable = true
        }

        /// A source that depends on the daemon and its environment, and that notices changes by itself.
        package init(variables: [String] = [], make: @escaping Make) {
            self.make = make
            self.variables = variables
            isReloadable = false
        }

        /// The variables that a fleet's source reads.
        package static let fleetVariables = [
            "TWEAKS_FLEET", "TWEAKS_FLEET_LABELS", "TWEAKS_FLEET_PREFIX", "TWEAKS_FLEET_INSTANCE",
        ]
    }
}
