// Strips the control bytes that a telnet client mixes into its input.

/// Strips telnet commands (RFC 854) and refuses every option (RFC 855): the reply to `DO x` is `WONT x`, to `WILL x`
/// `DONT x`. Without a reply the client would discard all output after Ctrl-C.
package struct TelnetFilter: Sendable {
    static let iac: UInt8 = 255
    private static let (se, ip, sb, will, wont, `do`, dont) = (
        240 as UInt8, 244 as UInt8, 250 as UInt8, 251 as UInt8, 252 as UInt8, 253 as UInt8, 254 as UInt8
    )

    /// The result of filtering one byte.
    enum Outcome: Equatable {
        case data
        case nothing
        case reply([UInt8])
        case interrupt
    }

    /// The server's reaction to a run of bytes.
    package struct Response: Equatable, Sendable {
        /// Bytes to send back.
        package var reply: [UInt8] = []
        /// Ctrl-C: the unfinished line is discarded.
        package var wasInterrupted = false
    }

    private enum State: Equatable, Sendable {
        case idle, command
        case option(UInt8)
        case subnegotiation, subnegotiationCommand
    }

    private var state = State.idle

    var isIdle: Bool { state == .idle }

    mutating func filter(_ byte: UInt8) -> Outcome {
        switch state {
        case .idle:
            if byte != Self.iac { return .data }
            state = .command
        case .command: return command(byte)
        case .option(let verb):
            state = .idle
            if verb == Self.do { return .reply([Self.iac, Self.wont, byte]) }
            if verb == Self.will { return .reply([Self.iac, Self.dont, byte]) }
        case .subnegotiation: if byte == Self.iac { state = .subnegotiationCommand }
        case .subnegotiationCommand: state = byte == Self.se ? .idle : .subnegotiation
        }
        return .nothing
    }

    private mutating func command(_ byte: UInt8) -> Outcome {
        switch byte {
        case Self.will, Self.wont, Self.do, Self.dont: state = .option(byte)
        case Self.sb: state = .subnegotiation
        case Self.ip:
            state = .idle
            return .interrupt
        default: state = .idle  // An escaped 255, invalid in UTF-8, is stripped, too.
        }
        return .nothing
    }
}
