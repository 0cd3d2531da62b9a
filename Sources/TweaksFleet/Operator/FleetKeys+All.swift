// Names all keys of a fleet at once, for whoever watches more than desired values.

extension FleetKeys {
    /// What all keys of the fleet begin with.
    package var all: [UInt8] { Array("\(prefix)/\(name)/".utf8) }
}
