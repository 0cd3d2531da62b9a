// From a request to what it asks for: the route is looked up, and everything about it that needs no tweaks is judged.

import Tweaks
import TweaksWire

/// One row of the API: a method, a path, and what they mean.
struct PanelRoute: Sendable {
    /// Never `HEAD`, which is answered as `GET` is.
    let method: String
    /// As openapi.json has it: `/api/presets/{name}/load`.
    let path: String
    /// The commands that it carries out; none where it is about the page.
    let commands: [Command]
    /// The names that the query may have; nil: it is not looked at.
    let query: [String]?
    let action: @Sendable (PanelCall) throws(HTTPFailure) -> PanelAction
    /// What stands between the slashes; nil where any text may stand.
    private let parts: [String?]

    @inline(never) init(
        _ method: String, _ path: String, _ commands: Command..., query: [String]? = [],
        action: @escaping @Sendable (PanelCall) throws(HTTPFailure) -> PanelAction
    ) {
        self.method = method
        self.path = path
        self.commands = commands
        self.query = query
        self.action = action
        parts = path.pathParts.dropFirst().filter { !$0.isEmpty }.map { $0.hasPrefix("{") ? nil : $0 }
    }

    /// What stands in the places of the parameters; nil where it is another path.
    fileprivate func parameters(in path: [String]) -> [String]? {
        guard path.count == parts.count else { return nil }
        var parameters: [String] = []
        for (part, wanted) in zip(path, parts) {
            if wanted == nil { parameters.append(part) }
            if let wanted, wanted != part { return nil }
        }
        return parameters
    }
}

/// Requests to actions.
enum PanelRouter {
    /// What a request asks for.
    /// - Throws: 404 for a path that there is not, 405 for another method, and what is wrong with query and body.
    static func action(for request: HTTPRequest) throws(HTTPFailure) -> PanelAction {
        let method = request.method == "HEAD" ? "GET" : request.method
        var others: [String] = []
        for route in PanelRoute.all {
            guard let parameters = route.parameters(in: request.path) else { continue }
            if route.method == method {
                try checkQuery(request, route)
                return try route.action(try PanelCall(request, parameters))
            }
            others += route.method == "GET" ? ["GET", "HEAD"] : [route.method]
        }
        throw others.isEmpty ? unknown(request) : otherMethod(request, others)
    }

    private static func checkQuery(_ request: HTTPRequest, _ route: PanelRoute) throws(HTTPFailure) {
        guard let known = route.query else { return }
        for field in request.query where !known.contains(field.name) {
            throw .unknownName("the query", field.name, of: known, "parameter", empty: "this path has none")
        }
    }

    private static func unknown(_ request: HTTPRequest) -> HTTPFailure {
        let path = "/" + request.path.joined(separator: "/")
        let remedy = "GET /api/openapi.json lists what there is"
        return HTTPFailure(.unknownCommand, "\(Quoting.excerpt(path)) is no path of this server; \(remedy)")
    }

    private static func otherMethod(_ request: HTTPRequest, _ known: [String]) -> HTTPFailure {
        let words = known.joined(separator: ", ")
        let path = "/" + request.path.joined(separator: "/")
        var failure = HTTPFailure(
            .methodNotAllowed, TweakError.Code.unknownCommand.rawValue,
            "\(Quoting.excerpt(request.method)) is no method of \(Quoting.excerpt(path)); use \(words)")
        failure.headers = [HTTPField("Allow", words)]
        return failure
    }
}

extension HTTPFailure {
    /// Something has a name that means nothing there.
    static func unknownName(
        _ subject: String, _ name: String, of known: [String], _ what: String, empty: String
    ) -> HTTPFailure {
        let near = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
        let remedy = near ?? (known.isEmpty ? empty : "known: \(known.joined(separator: ", "))")
        return HTTPFailure(.usage, "\(subject): there is no \(what) \(Quoting.excerpt(name)); \(remedy)")
    }
}
