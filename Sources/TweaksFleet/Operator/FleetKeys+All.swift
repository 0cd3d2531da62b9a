// Adds the common prefix of all keys of a fleet.

extension FleetKeys {
    /// The prefix of all keys of the fleet.
    package var all: [UInt8] { Array("\(prefix)/\(name)/".utf8) }
}
