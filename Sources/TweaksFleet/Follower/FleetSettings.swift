// Reads a process's fleet, labels and ID from the program and the environment; the environment wins.

import TweaksInterface

/// Where a fleet is, and the identity of this process in it.
package struct FleetSettings: Sendable {
    package let configuration: EtcdConfiguration
    package let keys: FleetKeys
    package let labels: Labels
    /// The configured instance ID; nil if one is to be generated.
    package let instance: String?

    /// The settings in the program's code.
    struct ProgramSettings: Sendable {
        var endpoints: String?
        var fleet: String?
        var labels: Labels = [:]
        var prefix: String?
        var user: String?
        var passwordFile: String?
    }

    /// Returns nil if no fleet is configured or it is off.
    init?(_ given: ProgramSettings, daemon: String, environment: [String: String]) throws(ServerError) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let endpoints = variable("TWEAKS_FLEET") ?? given.endpoints, endpoints.lowercased() != "off" else {
            return nil
        }
        // A URL may contain a password, so it is not printed.
        let subject = variable("TWEAKS_FLEET") == nil ? "the fleet of the program" : "TWEAKS_FLEET"
        do {
            configuration = try EtcdConfiguration(
                endpoints: endpoints, user: given.user, passwordFile: given.passwordFile)
        } catch {
            throw ServerError("\(subject): \(error)")
        }
        let prefix = variable("TWEAKS_FLEET_PREFIX") ?? given.prefix ?? "/tweaks"
        guard prefix.hasPrefix("/"), !prefix.hasSuffix("/"), prefix.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw ServerError("TWEAKS_FLEET_PREFIX=\(prefix): a prefix begins with /, and does not end with it")
        }
        let fleet = given.fleet ?? daemon
        guard FleetInstance.isID(fleet) else {
            throw ServerError("the fleet's name \(fleet): use letters, digits, “.”, “_”, “-” and “:”, at most 63")
        }
        keys = FleetKeys(prefix: prefix, name: fleet)
        labels = try Self.labels(given.labels, variable("TWEAKS_FLEET_LABELS"))
        instance = variable("TWEAKS_FLEET_INSTANCE")
        if let instance, !FleetInstance.isID(instance) {
            throw ServerError(
                "TWEAKS_FLEET_INSTANCE=\(instance): use letters, digits, “.”, “_”, “-” and “:”, at most 63")
        }
    }

    private static func labels(_ given: Labels, _ text: String?) throws(ServerError) -> Labels {
        do throws(FleetProblem) {
            let labels = try text.map { text throws(FleetProblem) in try Labels(parsing: text) } ?? [:]
            return try given.merging(labels) { $1 }.validated()
        } catch {
            throw ServerError("TWEAKS_FLEET_LABELS=\(text ?? ""): \(error.text)")
        }
    }
}
