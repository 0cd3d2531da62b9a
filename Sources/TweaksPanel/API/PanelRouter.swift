// Finds the route of a request, and validates the path, the method and the query.

import Tweaks
import TweaksWire

/// One route of the API: a method, a path, and their action.
struct PanelRoute: Sendable {
    /// Never `HEAD`, which is handled as `GET`.
    let method: String
    /// As in openapi.json: `/api/presets/{name}/load`.
    let path: String
    /// The commands that the route performs; none for routes of the page.
    let commands: [Command]
    /// The known names of the query; nil if the query is ignored.
    let query: [String]?
    let action: @Sendable (PanelCall) throws(HTTPFailure) -> PanelAction
    /// The parts between slashes; nil for a parameter.
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

    /// The values of the parameters; nil if the path does not match.
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

/// Maps requests to actions.
enum PanelRouter {
    /// The action of a request.
    /// - Throws: 404 for an unknown path, 405 for another method, and errors in the query and the body.
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
        let remedy = "GET /api/openapi.json lists all paths"
        return HTTPFailure(.unknownCommand, "\(Quoting.excerpt(path)) is not a path of this server; \(remedy)")
    }

    private static func otherMethod(_ request: HTTPRequest, _ known: [String]) -> HTTPFailure {
        let words = known.joined(separator: ", ")
        let path = "/" + request.path.joined(separator: "/")
        var failure = HTTPFailure(
            .methodNotAllowed, TweakError.Code.unknownCommand.rawValue,
            "\(Quoting.excerpt(path)) does not support \(Quoting.excerpt(request.method)); use \(words)")
        failure.headers = [HTTPField("Allow", words)]
        return failure
    }
}

extension HTTPFailure {
    /// An unknown name of a field or a parameter, with a suggestion.
    static func unknownName(
        _ subject: String, _ name: String, of known: [String], _ what: String, empty: String
    ) -> HTTPFailure {
        let near = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
        let remedy = near ?? (known.isEmpty ? empty : "known: \(known.joined(separator: ", "))")
        return HTTPFailure(.usage, "\(subject): there is no \(what) \(Quoting.excerpt(name)); \(remedy)")
    }
}
