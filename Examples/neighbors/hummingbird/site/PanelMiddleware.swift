// Passes requests of the site's users on to the panel, and streams its answers.

import HTTPTypes
public import Hummingbird
import NIOCore
public import TweaksPanel

/// The panel below `/tweaks` of a router, behind the authentication of the site.
public struct PanelMiddleware<Context: RequestContext>: RouterMiddleware {
    private let panel: TweakPanelHandler
    private let users: SiteUsers

    /// The most bytes of a body, as of the panel.
    private static var mostBytes: Int { 1 << 20 }

    /// - Parameter panel: The handler below `/tweaks`.
    public init(_ panel: TweakPanelHandler, users: SiteUsers) { (self.panel, self.users) = (panel, users) }

    /// Answers requests below the path, and passes on all others.
    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.uri.path == "/tweaks" || request.uri.path.hasPrefix("/tweaks/") else {
            return try await next(request, context)
        }
        guard let caller = users.caller(of: request) else {
            return Response(status: .unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"quotes\""])
        }
        let body = try await request.body.collect(upTo: Self.mostBytes)
        let answer = await panel.respond(
            to: TweakPanelRequest(
                method: request.method.rawValue, target: request.head.path ?? "",
                headers: request.headers.map { (name: $0.name.rawName, value: $0.value) },
                body: Array(body.readableBytesView)),
            as: caller)
        return Response(answer)
    }
}

extension Response {
    /// The answer of the panel. Its body is read as fast as the client reads, and released when that has left.
    init(_ answer: TweakPanelResponse) {
        var headers = HTTPFields()
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
        }
        let body = answer.body
        let length = headers[.contentLength].flatMap { Int($0) }
        self.init(
            status: HTTPResponse.Status(code: answer.status), headers: headers,
            body: ResponseBody(contentLength: length) { writer in
                for try await part in body { try await writer.write(ByteBuffer(bytes: part)) }
                try await writer.finish(nil)
            })
    }
}
