// Adds files and routes to a panel, for a program whose page shows more than the tweaks of its registry.

package import Tweaks
import TweaksServer
package import TweaksWire

/// What a program adds to its panel: modules and styles of the page, and routes below `/api/NAME`.
package struct PanelExtension: Sendable {
    /// A request of one of its routes.
    package struct Call: Equatable, Sendable {
        package var isChange: Bool
        /// The parts of the path after `/api/NAME`.
        package var path: [String]
        package var query: [HTTPField] = []
        /// An object; an empty one without a body.
        package var body = JSON.object([])

        package init(_ path: [String], isChange: Bool = false, query: [HTTPField] = [], body: JSON = .object([])) {
            (self.path, self.isChange, self.query, self.body) = (path, isChange, query, body)
        }
    }

    /// The part of the routes after `/api/`, and the folder of its files.
    let name: String
    /// Its files, by names like those of the panel: `page/NAME/main.js`, which the page starts.
    let files: [(name: String, bytes: [UInt8])]
    private let answer: Answer

    /// Begins to answer a request, on the I/O thread; it calls `reply` once, on any thread.
    package typealias Answer = @Sendable (_ call: Call, _ reply: @escaping @Sendable (Reply) -> Void) -> Void

    package init(_ name: String, files: [(name: String, bytes: [UInt8])], answer: @escaping Answer) {
        (self.name, self.files, self.answer) = (name, files, answer)
    }

    /// The call of a request; nil if its path is another one's.
    func call(_ request: HTTPRequest) throws(HTTPFailure) -> Call? {
        guard request.path.starts(with: ["api", name]) else { return nil }
        var call = Call(Array(request.path.dropFirst(2)), isChange: request.method == "POST", query: request.query)
        guard call.isChange else {
            if ["GET", "HEAD"].contains(request.method) { return call }
            throw HTTPFailure(
                .methodNotAllowed, TweakError.Code.unknownCommand.rawValue,
                "/api/\(name) supports GET and HEAD, and POST for changes; use one of these")
        }
        do throws(JSONReader.Problem) {
            call.body = try JSON(request.body, maxValues: 10_000)
        } catch {
            throw HTTPFailure(.usage, "the body is not JSON: \(error); write an object, such as {}")
        }
        guard case .object = call.body else { throw HTTPFailure(.usage, "the body must be a JSON object, such as {}") }
        return call
    }

    /// The step that lets the program answer. Changes need the right to write everything, as what they change has no
    /// path in the registry.
    func step(_ call: Call) -> DialectStep {
        .ask(ProgramRequest(call.isChange ? .write : .read) { [answer] in answer(call, $0) })
    }
}
