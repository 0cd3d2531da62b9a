// Declares a fleet in etcd as a source of a daemon's values.

public import TweaksInterface

extension TweakDaemon.Source {
    /// Follows a fleet: values that many processes share, kept in etcd, which `tweakctl fleet` changes.
    ///
    /// ```swift
    /// try TweakDaemon.start("api", sources: [.etcd("http://127.0.0.1:2379", labels: ["zone": "eu"])])
    /// ```
    ///
    /// The fleet's values lie above the config file and below overrides. The last good ones are kept in the state
    /// directory, and are in effect before etcd answers. Observers run where those of a reload do.
    ///
    /// The environment wins: `TWEAKS_FLEET=URL[,URL…]` or `off`, `TWEAKS_FLEET_LABELS=zone=eu,version=1.4`,
    /// `TWEAKS_FLEET_PREFIX`, `TWEAKS_FLEET_INSTANCE`. Where neither names a URL nothing is followed, and nothing runs.
    /// - Parameters:
    ///   - endpoints: URLs of etcd's members, with commas between them.
    ///   - fleet: The fleet's name; nil: the daemon's.
    ///   - labels: What rollouts can select this process by, fixed while it runs; at most 8, of 256 bytes in all.
    ///   - prefix: Where the keys of all fleets are; one for each environment. Nil: `/tweaks`.
    ///   - user: Who it is to etcd, where that asks.
    ///   - passwordFile: A file with the password, which others cannot read. Over plain HTTP only on this machine.
    public static func etcd(
        _ endpoints: String? = nil, fleet: String? = nil, labels: [String: String] = [:], prefix: String? = nil,
        user: String? = nil, passwordFile: String? = nil
    ) -> TweakDaemon.Source {
        let given = FleetSettings.Given(
            endpoints: endpoints, fleet: fleet, labels: labels, prefix: prefix, user: user, passwordFile: passwordFile)
        return TweakDaemon.Source { context throws(ServerError) in
            guard let settings = try FleetSettings(given, daemon: context.name, environment: context.environment) else {
                return nil
            }
            return FleetSource(settings, context)
        }
    }
}
