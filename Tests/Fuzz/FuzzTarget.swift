// The fuzz targets: one entry point for the fuzzer, for replaying, and for the tests.

/// What is wrong with the outcome of an input.
package struct Finding: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Parts of the product that take bytes from strangers.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Bytes to lines to requests, and back.
    case codec
    /// The commands that telnet mixes in.
    case telnet
    /// A server with two sessions, one of which may not do everything.
    case session
    /// Config files and presets.
    case config
    /// Overrides and history.
    case state
    /// Token files.
    case tokens
    /// HTTP requests, and who may ask.
    case http
    /// What etcd answers.
    case etcd
    /// What the keys of a fleet hold.
    case fleet

    /// Runs one input.
    /// - Throws: What is wrong; where the product itself notices, it traps.
    package func run(_ bytes: [UInt8]) throws(Finding) {
        switch self {
        case .codec: try CodecTarget.run(bytes)
        case .telnet: try TelnetTarget.run(bytes)
        case .session: try SessionTarget.run(bytes)
        case .config: try ConfigTarget.run(bytes)
        case .state: try StateTarget.run(bytes)
        case .tokens: try TokensTarget.run(bytes)
        case .http: try HTTPTarget.run(bytes)
        case .etcd: try EtcdTarget.run(bytes)
        case .fleet: try FleetTarget.run(bytes)
        }
    }
}

/// States what has to hold.
func expect(_ isTrue: Bool, _ text: @autoclosure () -> String) throws(Finding) {
    if !isTrue { throw Finding(text()) }
}
