// Lists the fuzz targets, for the fuzzer, for replaying inputs, and for the tests.

/// A property that an input violates.
package struct Finding: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The parts of the product that parse untrusted bytes.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Bytes to lines to requests, and back.
    case codec
    /// The commands that telnet clients insert.
    case telnet
    /// A server with two sessions, one of them with limited permissions.
    case session
    /// Config files and presets.
    case config
    /// Overrides and history.
    case state
    /// Archives of a state.
    case archive
    /// Token files.
    case tokens
    /// HTTP requests and their access checks.
    case http
    /// Responses of etcd.
    case etcd
    /// The keys of a fleet in etcd.
    case fleet
    /// Swift source in which defaults are rewritten.
    case source
    /// Texts that a grammar builds, through sessions, HTTP and all files and answers.
    case grammar

    /// Runs one input.
    /// - Throws: A violated property; the product itself may also trap.
    package func run(_ bytes: [UInt8]) throws(Finding) {
        switch self {
        case .codec: try CodecTarget.run(bytes)
        case .telnet: try TelnetTarget.run(bytes)
        case .session: try SessionTarget.run(bytes)
        case .config: try ConfigTarget.run(bytes)
        case .state: try StateTarget.run(bytes)
        case .archive: try ArchiveTarget.run(bytes)
        case .tokens: try TokensTarget.run(bytes)
        case .http: try HTTPTarget.run(bytes)
        case .etcd: try EtcdTarget.run(bytes)
        case .fleet: try FleetTarget.run(bytes)
        case .source: try SourceTarget.run(bytes)
        case .grammar: try GrammarTarget.run(bytes)
        }
    }
}

/// Throws a finding unless a condition holds.
func expect(_ isTrue: Bool, _ text: @autoclosure () -> String) throws(Finding) {
    if !isTrue { throw Finding(text()) }
}

/// Splits a stream into chunks.
/// - Parameter sizes: The sizes of the chunks, repeated; empty: one chunk.
func chunks(of stream: [UInt8], sizes: [Int]) -> [ArraySlice<UInt8>] {
    var (rest, chunks) = (stream[...], [ArraySlice<UInt8>]())
    while !rest.isEmpty {
        let chunk = rest.prefix(sizes.isEmpty ? rest.count : max(sizes[chunks.count % sizes.count], 1))
        chunks.append(chunk)
        rest = rest.dropFirst(chunk.count)
    }
    return chunks
}

/// The chunk sizes to compare with reading all at once, from a byte of the input.
func chunkSizes(_ choice: UInt8) -> [[Int]] {
    [[1], [2, 3], [Int(choice >> 1)], [Int(choice >> 4), 1, Int(choice & 15)]]
}
