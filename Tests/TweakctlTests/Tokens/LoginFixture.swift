// A server that the test answers for, and a token for it.

import TweaksTestSupport
import TweaksWire

@testable import tweakctl

struct LoginFixture {
    let tweakctl: TweakctlFixture
    let server: FakeServer
    let secret = TokenSecret.make()
    let cache: TokenCache
    private let option: String

    /// - Parameter isTCP: Whether the server listens at a port.
    init(isTCP: Bool = false) throws {
        tweakctl = try TweakctlFixture()
        server = try isTCP ? FakeServer() : FakeServer(tweakctl.socket("fake"))
        option = isTCP ? "-H" : "-s"
        cache = TokenCache(path: tweakctl.directory.file("home/.local/state/tweakctl/tokens"))
    }

    var address: String { server.address }

    /// The saved token for the server.
    var saved: SavedToken? { cache.token(for: address) }

    /// Saves the token for the server.
    func save(isPlain: Bool = false, expires: Int64? = nil) throws {
        let token = SavedToken(secret: secret, name: "alice", scopes: ["read"], expires: expires, isPlain: isPlain)
        try cache.save(token, for: address)
    }

    /// Starts tweakctl with the address of the server before the arguments.
    func start(_ arguments: String..., input: String? = nil) throws -> TweakctlProcess {
        try tweakctl.start([option, address] + arguments, input: input)
    }

    /// Saves the token, and starts tweakctl with the address of the server before the arguments.
    func startLoggedIn(_ arguments: String...) throws -> TweakctlProcess {
        try save()
        return try tweakctl.start([option, address] + arguments)
    }

    func run(_ arguments: String..., input: String = "") throws -> TweakctlFixture.Result {
        try tweakctl.run([option, address] + arguments, input: input)
    }

    func terminal(_ arguments: String) throws -> PseudoTerminal {
        try tweakctl.terminal("\(option) \(address) \(arguments)")
    }

    /// Accepts, authenticates and answers `watch A`, and closes the connection when the value is printed.
    func serveWatch(_ process: TweakctlProcess, value: Int = 1) throws {
        let peer = try accept()
        try peer.answer("hello 1", "  instance: \(value)", "ok")
        try peer.answer("watch A", "A/B/C = \(value)", "ok rev 4 watching 1")
        try process.lines(through: "A/B/C = \(value)")
        try peer.close()
    }

    /// Accepts a client and authenticates it.
    /// - Parameter reply: The words after `ok`, or a refusal.
    func accept(_ reply: String = "token alice may read") throws -> FakePeer {
        let peer = try server.accept()
        try peer.authenticate(secret, reply)
        return peer
    }
}
