// Adds files and routes to a panel, for a program whose page shows more than the tweaks of its registry.

import Tweaks
import TweaksServer
package import TweaksWire

/// What a program adds to its panel: modules and styles of the page, and routes below `/api/NAME`.
package struct PanelExtension: Sendable {
    /// The part of the routes after `/api/`, and the folder of its files.
    let name: String
    /// Its files, by names like those of the panel: `page/NAME/main.js`, which the page starts.
    let files: [(name: String, bytes: [UInt8])]
    private let answer: Answer

    /// Begins to answer a request, on the I/O thread; it calls `reply` once, on any thread.
    package typealias Answer = @Sendable (_ request: HTTPRequest, _ reply: @escaping @Sendable (Reply) -> Void) -> Void

    package init(_ name: String, files: [(name: String, bytes: [UInt8])], answer: @escaping Answer) {
        (self.name, self.files, self.answer) = (name, files, answer)
    }

    /// Whether a request is for one of its routes.
    func serves(_ request: HTTPRequest) -> Bool {
        request.path.count >= 2 && request.path[0] == "api" && request.path[1] == name
    }

    /// The step that lets the program answer. All but reading needs the right to write everything, as what it changes
    /// has no path in the registry.
    func step(_ request: HTTPRequest) -> DialectStep {
        let reads = request.method == "GET" || request.method == "HEAD"
        return .ask(ProgramRequest(reads ? .read : .write) { [answer] in answer(request, $0) })
    }
}
