// Who is at the other end of a connection, as far as the system knows.

import Tweaks

/// The other end.
struct Peer {
    let transport: TweakSession.Transport
    /// For people: `uid 1000 pid 4711`, or an address with its port.
    private(set) var text: String
    /// Whose changes these are before a token says otherwise.
    private(set) var origin: TweakOrigin
    /// Who is to blame for wrong tokens, and for too many connections: a user, or an address whatever the port.
    let culprit: String
    var userID: UInt32?
    var processID: Int32?

    /// A user of this machine, on a Unix socket; nil where the kernel does not say who.
    init(_ user: Platform.PeerUser?) {
        transport = .unix
        let name = user.map { TweakOrigin.user($0.user) } ?? TweakOrigin("unknown user")
        let process = user?.process
        text = name.description + (process.map { " pid \($0)" } ?? "")
        origin = name.through(TweakConnection(transport: transport.rawValue, peer: text))
        culprit = name.description
        (userID, processID) = (user?.user, process)
    }

    /// A port of an address.
    init(address: String, port: UInt16, _ transport: TweakSession.Transport = .tcp) {
        self.transport = transport
        text = "\(address):\(port)"
        origin = TweakOrigin(text).through(TweakConnection(transport: transport.rawValue, peer: text))
        culprit = address
    }

    /// Notes what the program at the other end says it is.
    mutating func introduce(as program: String) {
        text = "\(text) \(Quoting.sanitized(program))"
        origin = origin.through(TweakConnection(transport: transport.rawValue, peer: text))
    }
}
