// Where the panel listens, and what all its connections share: the page, its policy, and the token of this start.

import Foundation
package import Tweaks
package import TweaksServer
package import TweaksWire

/// The panel of one server.
package final class PanelFront: ServerFront {
    package let address: String?
    package let ports: [UInt16]
    package let name = "panel"
    package let tokens: [TokenEntry]
    private let names: [String]
    private let secret = TokenSecret.make()

    /// - Parameter isMovable: Another port is used when the one that was named is taken.
    package init(_ panel: TweakPanel, isMovable: Bool = true) {
        PanelPage.prepare()
        address = panel.address
        // One that is none is refused where it is opened, in words.
        let port = UInt16(exactly: panel.port) ?? 0
        ports = port == 0 || !isMovable ? [port] : [port, 0]
        names = panel.names + [panel.address].compactMap(\.self)
        tokens = [
            TokenEntry(name: "panel", digest: TokenSecret.digest(of: secret), scopes: [.admin], isOwn: true)
        ]
    }

    package func makeDialect(_ place: FrontPlace) -> any SessionDialect {
        HTTPDialect(place, HTTPGuard(port: Int(place.port), hosts: names + [place.address].compactMap(\.self)))
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
        return "http://\(["0.0.0.0", "[::]"].contains(host) ? "127.0.0.1" : host):\(port)/"
    }
}
