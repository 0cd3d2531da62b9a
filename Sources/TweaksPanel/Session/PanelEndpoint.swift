// Holds the panel's address, and the state that all its connections share: token, code and sign-ins.

import Synchronization
package import Tweaks
package import TweaksServer
package import TweaksWire

/// The panel of one server.
package final class PanelEndpoint: SignInEndpoint {
    package let address: String?
    package let name = "panel"
    private let names: [String]
    private let state: Mutex<State>
    /// The browsers that are signed in.
    package let signIns: SignInStore

    /// Whether the page's address is kept over a restart.
    package let keepsOrigin: Bool
    /// What the program adds to the panel.
    let addition: PanelExtension?
    private let ownPage: PanelPage?
    var page: PanelPage { ownPage ?? .plain }

    /// A change of the link.
    package enum Change: Equatable, Sendable {
        /// The token, and with it the address and the code.
        case token
        /// The code, which has been used.
        case code
    }

    private struct State {
        var ports: [Int]
        var secret: String
        var token: TokenEntry
        /// The ID in the page's address.
        var id = PanelID.make()
        var code = PanelCode()
        var onChange: (@Sendable (Change) -> Void)?
        var tokenFile: PanelTokenFile?
        var hasLinkFile = false

        init(ports: [Int]) {
            self.ports = ports
            secret = TokenSecret.make()
            token = Self.token(secret)
        }

        mutating func set(_ secret: String) {
            self.secret = secret
            token = Self.token(secret)
        }

        private static func token(_ secret: String) -> TokenEntry {
            TokenEntry(name: "panel", token: secret, scopes: [.admin], isOwn: true)
        }
    }

    /// - Parameters:
    ///   - isMovable: Use another port if the requested one is in use.
    ///   - keepsOrigin: Keep the page's address over a restart, where a token file is.
    ///   - addition: What the program adds to the panel.
    package init(
        _ panel: TweakPanel, isMovable: Bool = true, keepsOrigin: Bool = false, signIns: SignInStore = SignInStore(),
        addition: PanelExtension? = nil
    ) {
        self.signIns = signIns
        self.addition = addition
        ownPage = addition.map { PanelPage($0) }
        self.keepsOrigin = keepsOrigin
        address = panel.address
        // An invalid port is reported when the listener is opened.
        let ports = panel.port == 0 || !isMovable ? [panel.port] : [panel.port, 0]
        names = panel.names
        state = Mutex(State(ports: ports))
    }

    package var ports: [Int] { state.withLock { $0.ports } }
    package var tokens: [TokenEntry] { state.withLock { [$0.token] } }

    /// The panel's own token; it grants all rights.
    package var secret: String { state.withLock { $0.secret } }

    /// The ID in the page's address.
    package var id: String { state.withLock { $0.id } }

    /// Whether the file with the link was written.
    var hasLinkFile: Bool {
        get { state.withLock { $0.hasLinkFile } }
        set { state.withLock { $0.hasLinkFile = newValue } }
    }

    /// The file of the token; nil if the token ends with the process.
    var tokenFile: PanelTokenFile? {
        get { state.withLock { $0.tokenFile } }
        set { state.withLock { $0.tokenFile = newValue } }
    }

    /// Restores the token of an earlier run; called before the panel listens.
    /// - Parameters:
    ///   - port: The preferred port if any port is allowed.
    ///   - id: The ID in the page's address, if that is kept.
    package func restore(_ secret: String, port: Int?, id: String?) {
        state.withLock { state in
            state.set(secret)
            if let port, state.ports == [0] { state.ports = [port, 0] }
            if let id, keepsOrigin { state.id = id }
        }
    }

    /// Replaces the token, the address of the page and the code; sign-ins with the old token end.
    package func rotate() {
        let (old, onChange) = state.withLock { state in
            let old = state.token
            state.set(TokenSecret.make())
            state.id = PanelID.make()
            state.code = PanelCode()
            return (old, state.onChange)
        }
        if let id = old.scram?.id { signIns.removeAll(keyID: id) }
        onChange?(.token)
    }

    /// The code with a key id, if it is the current one.
    func code(keyID: String) -> Request.Proof.Code? {
        state.withLock { state in
            guard state.code.verifier.id == keyID, let token = state.token.scram?.id else { return nil }
            return Request.Proof.Code(state.code.verifier, keyID: token)
        }
    }

    /// Replaces a code that has completed a sign-in.
    /// - Returns: False if another sign-in was faster.
    func spend(_ code: Request.Proof.Code) -> Bool {
        let onChange = state.withLock { state -> (@Sendable (Change) -> Void)?? in
            guard state.code.verifier == code.verifier, state.token.scram?.id == code.keyID else { return nil }
            state.code = PanelCode()
            return .some(state.onChange)
        }
        guard let onChange else { return false }
        onChange?(.code)
        return true
    }

    /// Sets the closure to call after each change of the link, on the I/O thread.
    package func onChange(_ body: @escaping @Sendable (Change) -> Void) { state.withLock { $0.onChange = body } }

    package func makeDialect(_ place: EndpointAddress) -> any SessionDialect {
        let requestGuard = HTTPGuard(
            port: Int(place.port), names: names, addresses: [address, place.address].compactMap(\.self)
        ) { [self] in id }
        return HTTPDialect(place, requestGuard, self)
    }

    package func refusal(_ error: TweakError) -> [UInt8] {
        var bytes: [UInt8] = []
        var framing = ResponseFraming()
        framing.closes = true
        PanelPage.writer.append(HTTPFailure(error).response, to: framing, into: &bytes)
        return bytes
    }

    /// The address of the page, with the code, which grants all rights to the first browser that uses it.
    package func link(port: Int) -> String {
        let (id, code) = state.withLock { ($0.id, $0.code.text) }
        return "http://\(otherHost ?? PanelID.host(id)):\(port)/#code=\(code)"
    }

    /// The address for programs, for logs: those who may sign in learn the address of the page.
    package func plainLink(port: Int) -> String { "http://\(otherHost ?? "127.0.0.1"):\(port)/" }

    /// The address that it listens on, where that is neither loopback nor all addresses: `ID.localhost` does not lead
    /// there.
    private var otherHost: String? {
        guard let address, !["127.0.0.1", "::1", "0.0.0.0", "::"].contains(address) else { return nil }
        return address.contains(":") ? "[\(address)]" : address
    }
}

/// A code: the password of one sign-in by SCRAM, which does not send it. It is in the address that users open, which
/// browsers keep in their session files; once it is used, it is worth nothing there.
struct PanelCode {
    let text: String
    let verifier: ScramVerifier

    /// Makes a code of 128 random bits, which cannot be guessed. The page tells it from a token by its 22 letters; with a
    /// port of four digits, the address fits into a line of a terminal.
    init() {
        var generator = SystemRandomNumberGenerator()
        text = Base64.encodeForURL((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        verifier = ScramVerifier(token: text)
    }
}
