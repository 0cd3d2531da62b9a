// Makes the service: its routes, the panel, and the daemon beside the HTTP server.

public import Hummingbird
import Logging
public import ServiceLifecycle
import Synchronization
public import TweaksDaemon
public import TweaksPanel

/// A quote.
struct Quote: ResponseCodable {
    let symbol: String
    let price: Double
}

/// Whether the service takes requests.
public final class Readiness: Sendable {
    private let isStopping = Atomic(false)

    /// One that is ready.
    public init() {}

    func stop() { isStopping.store(true, ordering: .relaxed) }

    var isReady: Bool { !isStopping.load(ordering: .relaxed) }
}

/// Makes the routes of the service.
public func quotesRouter(
    _ tweaks: QuotesTweaks, panel: TweakPanelHandler, users: SiteUsers, readiness: Readiness
) -> Router<BasicRequestContext> {
    let router = Router()
    // The probes of Kubernetes; neither needs a user, and maintenance ends no pod.
    router.get("healthz") { _, _ in "ok" }
    router.get("readyz") { _, _ in
        guard readiness.isReady else { throw HTTPError(.serviceUnavailable, message: "stopping") }
        return "ready"
    }
    router.add(middleware: LevelMiddleware(level: tweaks.level))
    router.add(middleware: PanelMiddleware(panel, users: users))
    let quotes = router.group("quotes")
        .add(middleware: AdmissionMiddleware(tweaks: tweaks, rate: RateLimit(tweaks.rate)))
    quotes.get(":symbol") { _, context in
        let symbol = try context.parameters.require("symbol")
        return try await within(tweaks.timeout.value) {
            try await Task.sleep(for: tweaks.delay.value)
            return Quote(symbol: symbol, price: Double(symbol.utf8.reduce(0) { $0 + Int($1) }))
        }
    }
    return router
}

/// Gives the loggers of requests the level that applies now.
struct LevelMiddleware<Context: RequestContext>: RouterMiddleware {
    let level: Tweak<LogLevel>

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.logger.logLevel = level.value.level
        context.logger.debug("request", metadata: ["method": "\(request.method)", "path": "\(request.uri.path)"])
        return try await next(request, context)
    }
}

/// The daemon as a service of a group. It is the last one, so that it ends first: then the pages' streams of events end,
/// for which the HTTP server would wait.
public struct DaemonService: Service {
    private let daemon: TweakDaemon
    private let readiness: Readiness

    /// - Parameter readiness: Ends with the daemon.
    public init(_ daemon: TweakDaemon, _ readiness: Readiness) { (self.daemon, self.readiness) = (daemon, readiness) }

    /// Serves until the group shuts down.
    public func run() async throws {
        try await withGracefulShutdownHandler {
            try await daemon.run()
        } onGracefulShutdown: {
            readiness.stop()
            daemon.stop()
        }
    }
}
