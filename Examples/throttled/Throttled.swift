// Runs throttled: a line service with the tweaks daemon.

import Foundation
import TweaksDaemon
import TweaksFleet

@main
struct Throttled {
    static func main() async {
        // Before the service opens its socket, which could become standard error otherwise.
        TweakDaemon.openClosedStreams()
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            if options.wantsHelp { return print(Options.usage) }
            // The reader of standard error may exit before this process.
            signal(SIGPIPE, SIG_IGN)
            try await serve(options)
        } catch let error as Options.UsageError {
            fail(error, code: 2)
        } catch {
            fail(error, code: 1)
        }
    }

    /// Starts the daemon before the first client is accepted, and stops the service when the daemon stops.
    private static func serve(_ options: Options) async throws {
        let service = try Service(port: options.port)
        Settings.declareActions(for: service)
        var configuration = TweakDaemon.Configuration()
        configuration.config = options.config.map { .init($0) }
        configuration.sources = [.etcd()]
        configuration.signals = [.reload, .stop]
        configuration.onEvent = Log.daemon
        let daemon = try TweakDaemon.start("throttled", configuration, tweaks: Settings.all)
        Log.always("service at 127.0.0.1:\(service.port)")

        async let serving: Void = service.run()
        try await daemon.run()
        service.stop()
        await serving
        Log.notice("stopped")
    }

    private static func fail(_ error: any Error, code: Int32) -> Never {
        Log.always("\(error)")
        exit(code)
    }
}
