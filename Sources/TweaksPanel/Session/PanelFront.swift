// Where the panel listens, and what all its connections share: the page, its policy, and the token of this server.

package import Tweaks
package import TweaksServer
package import TweaksWire

/// The panel of one server.
package final class PanelFront: ServerFront {
    package let address: String?
    package let ports: [Int]
    package let name = "panel"
    package let tokens: [TokenEntry]
    private let names: [String]
    private let secret = TokenSecret.make()
    /// The browsers that are signed in.
    package let signIns: SignIns

    /// - Parameter isMovable: Another port is used when the one that was named is taken.
    package init(_ panel: TweakPanel, isMovable: Bool = true, signIns: SignIns = SignIns()) {
        self.signIns = signIns
        address = panel.address
        // One that is none is refused where it is opened, in words.
        ports = panel.port == 0 || !isMovable ? [panel.port] : [panel.port, 0]
        names = panel.names + [panel.address].compactMap(\.self)
        tokens = [TokenEntry(name: "panel", token: secret, scopes: [.admin], isOwn: true)]
    }

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

    /// The address of the page, with the token that lets in whoever has it.
    package func link(port: Int) -> String { "\(plainLink(port: port))#token=\(secret)" }

    /// The same for who has a token.
    package func plainLink(port: Int) -> String {
        let host = address.map { $0.contains(":") ? "[\($0)]" : $0 } ?? "127.0.0.1"
        // What stands for all addresses is none to go to.
        let shown = host == "0.0.0.0" ? "127.0.0.1" : host == "[::]" ? "[::1]" : host
        return "http://\(shown):\(port)/"
    }
}
