// Runs a service with all neighbors: a file of swift-configuration, a group of services, levels, metrics and events.

import Configuration
import Foundation
import Logging
import Metrics
import ServiceLifecycle
import SystemPackage
import TweaksConfiguration
import TweaksConfigurationSource
import TweaksDaemon
import TweaksLifecycle
import TweaksObservability
import UnixSignals

/// Declared here, so that its default is not what the file has at the first read.
let greeting = Tweak("Quotes", "Worker", "Greeting", "hello", help: "What the worker says")

/// Logs a greeting, and each one that takes its place.
struct Worker: Service {
    let config: ConfigReader
    let logger = Logger(label: "worker")
    let greetings = Counter(label: "quotes.greetings")

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await config.watchString(forKey: "quotes.worker.greeting", default: "hello") { values in
                // A reader of several providers gives a value again when one of them has changed.
                var (last, number): (String?, Int) = (nil, 0)
                for await greeting in values where greeting != last {
                    (last, number) = (greeting, number + 1)
                    logger.info("\(greeting)")
                    greetings.increment()
                    logger.debug("counted", metadata: ["greeting": "\(greeting)", "number": "\(number)"])
                }
            }
        }
        logger.info("the worker has ended")
    }
}

@main struct Program {
    static func main() async {
        do {
            try await run()
        } catch {
            Logger(label: "quotes").critical("\(error)")
            exit(1)
        }
    }

    private static func run() async throws {
        // Before the first logger and the first counter.
        let levels = TweakLogLevels()
        LoggingSystem.bootstrap { levels.handler($0, StreamLogHandler.standardError(label: $0)) }
        MetricsSystem.bootstrap(TweakFigures())

        // A file is a provider for the reader, and a layer for the tweaks.
        let path = ProcessInfo.processInfo.environment["QUOTES_FILE"] ?? "quotes.json"
        let file = try await ReloadingFileProvider<JSONSnapshot>(filePath: FilePath(path), allowMissing: true)
        let layer = ConfigProviderSource(file, TweakLayer("json file", rank: 110))
        let tweaks = TweakConfigProvider()
        let config = ConfigReader(providers: [tweaks, file], accessReporter: tweaks)

        // The values are there before a service begins; the signals are the group's.
        let events = TweakEvents(Logger(label: "tweaks"))
        let daemon = try TweakDaemon.start(
            "quotes", sources: [TweakDaemon.Source(layer)], signals: [], onEvent: events.handler, tweaks: greeting)
        let logger = Logger(label: "quotes")
        var configuration = ServiceGroupConfiguration(
            services: [TweakService(daemon, logger: logger), file, Worker(config: config)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // What has not ended by then is canceled.
        configuration.maximumGracefulShutdownDuration = .seconds(10)
        try await ServiceGroup(configuration: configuration).run()
    }
}
