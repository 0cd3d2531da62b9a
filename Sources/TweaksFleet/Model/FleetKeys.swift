// Creates and parses the keys of a fleet.

package import Tweaks

/// The keys of one fleet: `PREFIX/NAME/…`, readable with etcdctl.
package struct FleetKeys: Hashable, Sendable {
    package let prefix: String
    package let name: String

    package init(prefix: String = "/tweaks", name: String) { (self.prefix, self.name) = (prefix, name) }

    private func key(_ rest: String) -> [UInt8] { Array("\(prefix)/\(name)/\(rest)".utf8) }

    /// The prefix that processes watch.
    package var desired: [UInt8] { key("desired/") }
    package var head: [UInt8] { key("desired/head") }
    package var values: [UInt8] { key("desired/values/") }
    package func value(_ path: TweakPath) -> [UInt8] { key("desired/values/\(path)") }
    package var rollouts: [UInt8] { key("desired/rollouts/") }
    package func rollout(_ id: String) -> [UInt8] { key("desired/rollouts/\(id)") }
    package var instances: [UInt8] { key("instances/") }
    package func instance(_ id: String, start: Int64) -> [UInt8] { key("instances/\(id)/\(start)") }
    package var builds: [UInt8] { key("builds/") }
    package func build(_ hash: String) -> [UInt8] { key("builds/\(hash)") }
    package var log: [UInt8] { key("log/") }
    /// Padded with zeros, so that keys sort by number.
    package func log(_ sequence: UInt64) -> [UInt8] {
        let digits = String(sequence)
        return key("log/" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits)
    }
    package var drivers: [UInt8] { key("driver/") }
    package func driver(_ id: String) -> [UInt8] { key("driver/\(id)") }

    /// The kind of a key below `desired/`.
    package enum Desired: Hashable, Sendable {
        case head
        case value(TweakPath)
        case rollout(String)
        /// A key of another program, or an invalid path.
        case foreign
    }

    package func desired(_ key: [UInt8]) -> Desired {
        if key == head { return .head }
        if key.starts(with: values), let text = String(validating: key.dropFirst(values.count), as: UTF8.self),
            let path = try? TweakPath(text)
        {
            return .value(path)
        }
        if key.starts(with: rollouts), let id = String(validating: key.dropFirst(rollouts.count), as: UTF8.self),
            Rollout.isID(id)
        {
            return .rollout(id)
        }
        return .foreign
    }
}
