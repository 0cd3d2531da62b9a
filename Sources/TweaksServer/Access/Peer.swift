// Identifies the client at the other end of a connection, as far as the kernel knows it.

import Tweaks

/// The client at the other end of a connection.
struct Peer {
    let transport: TweakSession.Transport
    /// The display text: `uid 1000 pid 4711`, or an address with its port.
    private(set) var text: String
    /// The origin of its changes until it shows a token.
    private(set) var origin: TweakOrigin
    /// The key under which failed logins and connections are counted: a user, or an address without its port, with the
    /// user on loopback where the kernel says it.
    let clientKey: String
    var userID: UInt32?
    var processID: Int32?

    /// Creates a user of this machine on a Unix socket; nil if the kernel does not report one.
    init(_ user: Platform.PeerUser?) {
        transport = .unix
        let name = user.map { TweakOrigin.user($0.user) } ?? TweakOrigin("unknown user")
        let process = user?.process
        text = name.description + (process.map { " pid \($0)" } ?? "")
        origin = name.through(TweakConnection(transport: transport.rawValue, peer: text))
        clientKey = name.description
        (userID, processID) = (user?.user, process)
    }

    /// Creates a TCP client from its address and port.
    /// - Parameter user: The user who owns the client's socket, if that is known. It gives no rights.
    init(address: String, port: UInt16, user: UInt32? = nil, _ transport: TweakSession.Transport = .tcp) {
        self.transport = transport
        text = "\(address):\(port)"
        origin = TweakOrigin(text).through(TweakConnection(transport: transport.rawValue, peer: text))
        clientKey = user.map { "\(address) \(TweakOrigin.user($0))" } ?? address
    }

    /// Adds the client program's description of itself.
    mutating func setUserAgent(_ program: String) {
        text = "\(text) \(Quoting.sanitized(program))"
        origin = origin.through(TweakConnection(transport: transport.rawValue, peer: text))
    }
}
