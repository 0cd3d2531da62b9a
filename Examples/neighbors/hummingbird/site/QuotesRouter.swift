// Makes the routes of the service: quotes, the probes, and the panel.

public import Hummingbird
import Logging
import Tweaks
public import TweaksPanel

/// A quote.
struct Quote: ResponseCodable {
    let symbol: String
    let price: Double
}

/// Makes the routes of the service.
public func quotesRouter(
    _ tweaks: QuotesTweaks, panel: TweakPanelHandler, users: SiteUsers
) -> Router<BasicRequestContext> {
    let router = Router()
    // The probes of Kubernetes; neither needs a user, and maintenance ends no pod. The values are loaded before the server
    // listens, and one that stops takes no connections.
    router.get("healthz") { _, _ in "ok" }
    router.get("readyz") { _, _ in "ready" }
    router.add(middleware: LevelMiddleware(level: tweaks.level))
    router.add(middleware: PanelMiddleware(panel, users: users))
    let quotes = router.group("quotes")
        .add(middleware: AdmissionMiddleware(tweaks: tweaks, rate: RateLimit(tweaks.rate)))
    quotes.get(":symbol") { _, context in
        let symbol = try context.parameters.require("symbol")
        context.logger.debug("quote", metadata: ["symbol": "\(symbol)"])
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
        return try await next(request, context)
    }
}
