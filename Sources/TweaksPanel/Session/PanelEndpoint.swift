// Holds the panel's address, and the state that all its connections share: token and sign-ins.

import Synchronization
package import Tweaks
package import TweaksServer
package import TweaksWire

/// The panel of one server.
package final class PanelEndpoint: Endpoint {
    package let address: String?
    package let name = "panel"
    private let names: [String]
    private let state: Mutex<State>
    /// The browsers that are signed in.
    package let signIns: SignInStore

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

    /// - Parameter isMovable: Use another port if the requested one is in use.
    package init(_ panel: TweakPanel, isMovable: Bool = true, signIns: SignInStore = SignInStore()) {
        self.signIns = signIns
        address = panel.address
        // An invalid port is reported when the listener is opened.
        let ports = panel.port == 0 || !isMovable ? [panel.port] : [panel.port, 0]
        names = panel.names + [panel.address].compactMap(\.self)
        state = Mutex(State(ports: ports, secret: TokenSecret.make()))
    }

    package var ports: [Int] { state.withLock { $0.ports } }
    package var tokens: [TokenEntry] { state.withLock { [$0.token] } }

    /// The token in the printed link; it grants all rights.
    package var secret: String { state.withLock { $0.secret } }

    /// The file of the token; nil if the token ends with the process.
    var tokenFile: PanelTokenFile? {
        get { state.withLock { $0.tokenFile } }
        set { state.withLock { $0.tokenFile = newValue } }
    }

    /// Restores the token of an earlier run; called before the panel listens.
    /// - Parameter port: The preferred port if any port is allowed.
    package func restore(_ secret: String, port: Int?) {
        state.withLock { state in
            (state.secret, state.token) = (secret, State.token(secret))
            if let port, state.ports == [0] { state.ports = [port, 0] }
        }
    }

    /// Replaces the token; sign-ins with the old one end.
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

    /// Sets the closure to call after each rotation of the token, on the I/O thread.
    package func onRotation(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onRotation = body } }

    package func makeDialect(_ place: EndpointAddress) -> any SessionDialect {
        let requestGuard = HTTPGuard(port: Int(place.port), hosts: names + [place.address].compactMap(\.self))
        return HTTPDialect(place, requestGuard, signIns)
    }

    package func refusal(_ error: TweakError) -> [UInt8] {
        var (bytes, framing) = ([UInt8](), ResponseFraming())
        framing.closes = true
        PanelPage.writer.append(HTTPFailure(error).response, to: framing, into: &bytes)
        return bytes
    }

    /// The address of the page, with the token, which grants all rights.
    package func link(port: Int) -> String { "\(plainLink(port: port))#token=\(secret)" }

    /// The address of the page without the token.
    package func plainLink(port: Int) -> String {
        let host = address.map { $0.contains(":") ? "[\($0)]" : $0 } ?? "127.0.0.1"
        // A wildcard address cannot be opened in a browser.
        let shown = host == "0.0.0.0" ? "127.0.0.1" : host == "[::]" ? "[::1]" : host
        return "http://\(shown):\(port)/"
    }
}
