// Answers requests of a program's own router for the panel.

import Tweaks
public import TweaksInterface
public import TweaksServer
import TweaksWire

/// The panel as a part of a program's own site: its router authenticates the users, and passes their requests on.
///
/// ```swift
/// let panel = TweakPanelHandler(daemon, below: "/tweaks", origins: ["https://ops.example.org"])
/// let answer = await panel.respond(
///     to: TweakPanelRequest(method: "GET", target: "/tweaks/"),
///     as: TweakPanelCaller(name: "ada", scopes: [.admin]))
/// ```
///
/// The router sends it all requests whose path begins with that of the panel, of any method, once it knows who sends them.
/// A caller replaces a token: there is no sign-in, and the scopes are the rights. Each request is a session of the server,
/// with its limits; the connections of one browser window are shown as one.
///
/// The server needs no panel of its own for this. While it is not running, the answer is 503.
public struct TweakPanelHandler: Sendable {
    private let server: TweakServer?
    private let endpoint: PanelEndpoint
    private let mount: Mount
    private let requestGuard: HTTPGuard

    /// Creates the panel of a server. A path or an origin that cannot be right is named in every answer, with status 500.
    /// - Parameters:
    ///   - server: The server whose tweaks are shown.
    ///   - path: Where it is: parts of letters, digits, `-`, `.`, `_` and `~`, each after a slash; `/` is the whole site.
    ///   - origins: The origins of the site's pages, such as `https://ops.example.org`; requests of pages of any other are
    ///     refused. Programs send none.
    public init(_ server: TweakServer, below path: String = "/tweaks", origins: [String]) {
        self.init(server: server, below: path, origins: origins)
    }

    /// Creates the panel of a daemon. One that serves nothing, as built with the trait Frozen, answers 503.
    public init(_ daemon: TweakDaemon, below path: String = "/tweaks", origins: [String]) {
        self.init(server: (daemon.service as? any ServerHolder)?.server, below: path, origins: origins)
    }

    private init(server: TweakServer?, below path: String, origins: [String]) {
        self.server = server
        endpoint =
            server?.serverEndpoints.lazy.compactMap { $0 as? PanelEndpoint }.first ?? PanelEndpoint(TweakPanel.off)
        mount = Mount(below: path, origins: origins)
        requestGuard = HTTPGuard(site: mount.origins)
    }

    /// Answers a request. It returns with the head of the response; the body is sent as it is read.
    /// - Parameters:
    ///   - request: The request as the router has it, with its whole target.
    ///   - caller: The user that the router has authenticated.
    public func respond(to request: TweakPanelRequest, as caller: TweakPanelCaller) async -> TweakPanelResponse {
        do throws(HTTPFailure) {
            if let problem = mount.problem ?? caller.problem {
                throw HTTPFailure(.internalServerError, "internal", problem)
            }
            switch try mount.place(of: request.target) {
            case .edge(let location):
                let redirect = HTTPResponse(.permanentRedirect, [HTTPField("Location", location)])
                return Self.response(redirect, request)
            case .inside(let target):
                return try await response(to: try HTTPRequest(request, target: target), caller)
            }
        } catch {
            return Self.response(error.response, request)
        }
    }

    private func response(
        to request: HTTPRequest, _ caller: TweakPanelCaller
    ) async throws(HTTPFailure) -> TweakPanelResponse {
        let mounted = MountedRequest(request: request, caller: caller.fingerprint)
        let dialect = ServerCall.Dialect { [requestGuard, endpoint] place in
            HTTPDialect(place, requestGuard, endpoint, mounted: mounted)
        } refusal: { [endpoint] in
            endpoint.refusal($0)
        }
        let stream: CallStream?
        do throws(TweakError) {
            stream = try server?.open(ServerCall.Caller(name: caller.name, scopes: caller.scopes), by: dialect)
        } catch {
            throw HTTPFailure(error)
        }
        if let stream, let response = await TweakPanelResponse(stream, isHead: request.method == "HEAD") {
            return response
        }
        guard let server, server.isRunning else {
            throw HTTPFailure(.serviceUnavailable, "closing", "the tweaks of this program are not served now")
        }
        throw HTTPFailure(
            .tooManyRequests, "too-many",
            "the session was ended before its answer, as when clients hold too much memory; send the request again")
    }

    /// A response without a session, with the headers of all others.
    private static func response(_ response: HTTPResponse, _ request: TweakPanelRequest) -> TweakPanelResponse {
        var framing = ResponseFraming()
        framing.isHead = request.method == "HEAD"
        framing.closes = true
        var bytes: [UInt8] = []
        PanelPage.writer.append(response, to: framing, into: &bytes)
        return TweakPanelResponse(bytes, isHead: framing.isHead)
    }
}
