// Reads etcd's endpoints, the key prefix and the operator's name from options and the environment.

import Tweaks
import TweaksFleet
import TweaksSystem

/// The merged settings; options win.
struct OperatorSettings: Equatable {
    var endpoints: [String]
    var keys: FleetKeys
    var user: String?
    var passwordFile: String?
    /// user@host.
    var who: String

    init(_ arguments: FleetArguments, _ environment: [String: String]) throws(Failure) {
        let named = environment["TWEAKS_FLEET"].flatMap { $0.isEmpty || $0 == "off" ? nil : $0 }
        guard let text = arguments.value(.etcd) ?? named else {
            throw Failure(.usage, "no URL of etcd; use --etcd http://HOST:2379, or set TWEAKS_FLEET")
        }
        endpoints = text.split(separator: ",").map { String($0) }
        for endpoint in endpoints where !endpoint.hasPrefix("http://") && !endpoint.hasPrefix("https://") {
            throw Failure(.usage, "--etcd: \(Quoting.excerpt(endpoint)) is not a URL; write http://HOST:2379")
        }
        if endpoints.isEmpty { throw Failure(.usage, "--etcd: there is no URL in it; write http://HOST:2379") }
        let prefix = try Self.prefix(arguments.value(.prefix) ?? environment["TWEAKS_FLEET_PREFIX"] ?? "/tweaks")
        keys = FleetKeys(prefix: prefix, name: arguments.fleet)
        (user, passwordFile) = (arguments.value(.user), arguments.value(.passwordFile))
        if (user == nil) != (passwordFile == nil) {
            throw Failure(.usage, "--user and --password-file go together; name both or neither")
        }
        who = arguments.value(.who) ?? Self.login(environment)
        if !Quoting.isSafe(who) || who.utf8.count > 128 {
            throw Failure(.usage, "--as: \(Quoting.excerpt(who)) is not a name; use at most 128 plain bytes")
        }
    }

    private static func prefix(_ text: String) throws(Failure) -> String {
        var prefix = text[...]
        while prefix.hasSuffix("/") { prefix = prefix.dropLast() }
        guard prefix.hasPrefix("/"), Quoting.isSafe(String(prefix)) else {
            throw Failure(.usage, "--prefix: \(Quoting.excerpt(text)) is not a prefix; write one like /tweaks")
        }
        return String(prefix)
    }

    /// The current user and host.
    private static func login(_ environment: [String: String]) -> String {
        let user =
            getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? environment["USER"] ?? "uid \(geteuid())"
        return "\(user)@\(host)"
    }

    /// The name of this machine.
    static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Creates a client with these settings.
    func etcd() throws(Failure) -> any Etcd {
        do {
            return EtcdClient(
                try EtcdConfiguration(
                    endpoints: endpoints.joined(separator: ","), user: user, passwordFile: passwordFile))
        } catch {
            throw Failure(.usage, "--etcd: \(error)")
        }
    }
}
