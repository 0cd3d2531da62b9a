// Where the panel listens, and what all its connections share: the page, its policy, and the token of this server.

import Synchronization
package import Tweaks
package import TweaksServer
package import TweaksWire

/// The panel of one server.
package final class PanelFront: ServerFront {
    package let address: String?
    package let name = "panel"
    private let names: [String]
    private let state: Mutex<State>
    /// The browsers that are signed in.
    package let signIns: SignIns

    private struct State {
        var ports: [Int]
        var secret: String
        var token: TokenEntry
        var onRotation: (@Sendable () -> Void)?
        var tokenFile: PanelTokenFile?

        init(ports: [Int], secret: String) {
            (self.ports, self.secret, token) = (ports, secret, Self.token(secret))
        }

        static func token(_ secret: String) -> TokenEntry {
            TokenEntry(name: "panel", token: secret, scopes: [.admin], isOwn: true)
        }
    }

    /// - Parameter isMovable: Another port is used when the one that was named is taken.
    package init(_ panel: TweakPanel, isMovable: Bool = true, signIns: SignIns = SignIns()) {
        self.signIns = signIns
        address = panel.address
        // One that is none is refused where it is opened, in words.
        let ports = panel.port == 0 || !isMovable ? [panel.port] : [panel.port, 0]
        names = panel.names + [panel.address].compactMap(\.self)
        state = Mutex(State(ports: ports, secret: TokenSecret.make()))
    }

    package var ports: [Int] { state.withLock { $0.ports } }
    package var tokens: [TokenEntry] { state.withLock { [$0.token] } }

    /// The token of the printed link: to have it is enough.
    package var secret: String { state.withLock { $0.secret } }

    /// Where the token is kept; nil where it ends with the process.
    var tokenFile: PanelTokenFile? {
        get { state.withLock { $0.tokenFile } }
        set { state.withLock { $0.tokenFile = newValue } }
    }

    /// Takes what it had in an earlier run; called before it listens.
    /// - Parameter port: Where any port will do, that one, if it is free.
    package func resume(_ secret: String, port: Int?) {
        state.withLock { state in
            (state.secret, state.token) = (secret, State.token(secret))
            if let port, state.ports == [0] { state.ports = [port, 0] }
        }
    }

    /// Makes another token; who is signed in with the old one is so no more.
    package func rotate() {
        let secret = TokenSecret.make()
        let (old, onRotation) = state.withLock { state in
            let old = state.token
            (state.secret, state.token) = (secret, State.token(secret))
            return (old, state.onRotation)
        }
        if let id = old.scram?.id { signIns.removeAll(keyID: id) }
        onRotation?()
    }

    /// Is told of each new token, on the I/O thread.
    package func onRotation(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onRotation = body } }

    package func makeDialect(_ place: FrontPlace) -> any SessionDialect {
        let gate = HTTPGuard(port: Int(place.port), hosts: names + [place.address].compactMap(\.self))
        return HTTPDialect(place, gate, signIns)
    }

    package func refusal(_ error: TweakError) -> [UInt8] {
        var (bytes, exchange) = ([UInt8](), HTTPExchange())
        exchange.closes = true
        PanelPage.writer.append(HTTPFailure(error).response, to: exchange, into: &bytes)
        return bytes
    }

    /// The address of the page, with the token that lets in anyone who has it.
    package func link(port: Int) -> String { "\(plainLink(port: port))#token=\(secret)" }

    /// The same for who has a token.
    package func plainLink(port: Int) -> String {
        let host = address.map { $0.contains(":") ? "[\($0)]" : $0 } ?? "127.0.0.1"
        // What stands for all addresses is none to go to.
        let shown = host == "0.0.0.0" ? "127.0.0.1" : host == "[::]" ? "[::1]" : host
        return "http://\(shown):\(port)/"
    }
}
