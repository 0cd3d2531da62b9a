// Runs the service: `QUOTES_USERS='ada:PASSWORD:admin' QUOTES_ORIGINS=http://localhost:8080 quotes-site`.

import Foundation
import Hummingbird
import Logging
import QuotesSite
import ServiceLifecycle
import TweaksDaemon
import TweaksLifecycle
import TweaksPanel
import UnixSignals

@main enum Program {
    static func main() async {
        do {
            try await run()
        } catch {
            // An error that leaves `main` would be a trap and a backtrace.
            FileHandle.standardError.write(Data("quotes-site: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() async throws {
        let environment = Environment()
        let tweaks = QuotesTweaks()
        let users = try SiteUsers(environment.get("QUOTES_USERS") ?? "")
        let origins = (environment.get("QUOTES_ORIGINS") ?? "").split(separator: ",").map(String.init)
        let port = environment.get("QUOTES_PORT").flatMap { Int($0) } ?? 8_080
        // The signals are the group's.
        let daemon = try TweakDaemon.start("quotes", signals: [], tweaks: tweaks.all)
        let panel = TweakPanelHandler(daemon, below: "/tweaks", origins: origins)
        // Of the service itself; each request has the level of the tweak.
        let logger = Logger(label: "quotes")
        let application = Application(
            router: quotesRouter(tweaks, panel: panel, users: users),
            configuration: .init(address: .hostname("0.0.0.0", port: port)), logger: logger)
        // The last one ends first: with the daemon end the event streams of open pages, for which the server would wait.
        var configuration = ServiceGroupConfiguration(
            services: [application, TweakService(daemon, logger: logger)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(10)
        try await ServiceGroup(configuration: configuration).run()
    }
}
