// Adds a fleet in etcd as a source of a daemon's values.

public import TweaksInterface

extension TweakDaemon.Source {
    /// Follows a fleet: values that many processes share, kept in etcd, which `tweakctl fleet` changes.
    ///
    /// ```swift
    /// try TweakDaemon.start("api", sources: [.etcd("http://127.0.0.1:2379", labels: ["zone": "eu"])])
    /// ```
    ///
    /// The fleet's values are a layer above config file, environment and arguments, and below overrides. The last good ones are saved in the
    /// state directory and are in effect before etcd replies. Observers run where those of a reload do.
    ///
    /// The environment wins: `TWEAKS_FLEET=URL[,URL…]` or `off`, `TWEAKS_FLEET_LABELS=zone=eu,version=1.4`,
    /// `TWEAKS_FLEET_PREFIX`, `TWEAKS_FLEET_INSTANCE`. If neither names a URL, no fleet is followed and nothing runs.
    /// - Parameters:
    ///   - endpoints: URLs of etcd's members, separated by commas.
    ///   - fleet: The fleet's name; nil for the daemon's name.
    ///   - labels: Labels by which rollouts select this process, fixed while it runs; at most 8, of 256 bytes in all.
    ///   - prefix: The key prefix of all fleets; one for each environment. Nil for `/tweaks`.
    ///   - user: The etcd user, if etcd requires authentication.
    ///   - passwordFile: A file with the password, readable only by its owner. Over plain HTTP only on this machine.
    public static func etcd(
        _ endpoints: String? = nil, fleet: String? = nil, labels: [String: String] = [:], prefix: String? = nil,
        user: String? = nil, passwordFile: String? = nil
    ) -> TweakDaemon.Source {
        let given = FleetSettings.ProgramSettings(
            endpoints: endpoints, fleet: fleet, labels: labels, prefix: prefix, user: user, passwordFile: passwordFile)
        return TweakDaemon.Source(variables: fleetVariables) { daemon, environment throws(ServerError) in
            try FleetSettings(given, daemon: daemon, environment: environment).map { FleetSource($0) }
        }
    }
}
