// Runs one command against one fleet.

import Tweaks
import TweaksFleet
import TweaksSystem

/// The time limits of a driver; tests use shorter ones.
struct DriverLimits: Sendable {
    var timing = DriverTiming()
    /// The seconds without a heartbeat after which another driver may take over.
    var claim = DriverClaim.seconds
    /// The minimum of `--every` in seconds: a figure must be sampled twice before the next step.
    var leastEvery: Int64 = 60
}

/// One run of the program.
struct FleetClient {
    let arguments: FleetArguments
    let console: FleetConsole
    let fleet: FleetOperator
    let limits: DriverLimits
    /// Where the conditions on Prometheus are asked.
    var prometheus = PrometheusSource()

    var keys: FleetKeys { fleet.keys }
    var now: Int64 { fleet.now() }

    /// - Parameter connector: What connects to URLs with `https://`.
    init(_ arguments: FleetArguments, connector: (any EtcdConnector)? = nil) throws(Failure) {
        self.arguments = arguments
        console = FleetConsole(isJSON: arguments.isJSON)
        let settings = try OperatorSettings(arguments, ThisProcess.environment)
        var fleet = FleetOperator(
            try settings.etcd(connector), settings.keys, by: settings.who, now: { ThisProcess.wallClock })
        fleet.isDryRun = arguments.has(.dryRun)
        fleet.user = settings.user
        (self.fleet, limits) = (fleet, DriverLimits())
        prometheus = PrometheusSource(try settings.prometheusServer())
    }

    init(_ arguments: FleetArguments, _ console: FleetConsole, _ fleet: FleetOperator, _ limits: DriverLimits) {
        self.arguments = arguments
        self.console = console
        self.fleet = fleet
        self.limits = limits
    }

    /// Runs the command.
    func run() async throws(Failure) -> ExitCode {
        do throws(FleetRefusal) {
            return try await perform()
        } catch {
            throw Failure(error)
        }
    }

    private func perform() async throws(FleetRefusal) -> ExitCode {
        switch arguments.verb {
        case .ls: try await list()
        case .get: try await get()
        case .status: return try await arguments.has(.watch) ? watchStatus() : status()
        case .instances: try await instances()
        case .instance: try await instance()
        case .history: try await history()
        case .export: return try await export()
        case .check: return try await check()
        case .set: try await set()
        case .import: return try await importFile()
        case .reset: try await reset()
        case .undo: try await undo()
        case .pause: try await receipt("paused rollout \(id)", fleet.pause(id))
        case .finish: try await finish()
        case .abort: try await receipt("aborted rollout \(id)", fleet.abort(id))
        case .adopt: return try await adopt()
        case .rollout: return try await rollout()
        case .progress: return try await progress()
        case .drive: return await drive()
        case .resume: return try await resume()
        case .watch: return try await watch()
        case .audit: return try await audit()
        case .freeze: try await freeze()
        case .unfreeze: try await unfreeze()
        case .propose: try await propose()
        case .approve: try await approve()
        case .reject: try await reject()
        case .panel: return try await panel()
        }
        return .ok
    }

    /// The ID in the arguments, of a rollout or a process.
    var id: String { arguments.words.first ?? "" }

    func receipt(_ what: String, _ receipt: FleetReceipt) { console.print(receipt, keys, what) }

    /// The pattern in the arguments; nil stands for everything.
    func pattern() throws(FleetRefusal) -> TweakPattern? {
        guard let text = arguments.words.first else { return nil }
        return try pattern(text)
    }

    func pattern(_ text: String) throws(FleetRefusal) -> TweakPattern {
        if let pattern = TweakPattern(text) { return pattern }
        throw FleetRefusal(
            .usage, "\(Quoting.excerpt(text)) is not a pattern; write category/collection/name, * and **")
    }
}

extension FleetRefusal {
    /// Converts an error of the command line.
    init(_ failure: Failure) {
        let kind: Kind =
            switch failure.code {
            case .usage: .usage
            case .unreachable, .timeout: .unreachable
            case .ok, .refused: .refused
            }
        self.init(kind, failure.description)
    }
}

extension Failure {
    init(_ refusal: FleetRefusal) {
        let code: ExitCode =
            switch refusal.kind {
            case .refused, .suspended, .claimLost: .refused
            case .usage: .usage
            case .unreachable: .unreachable
            }
        self.init(code, refusal.description)
    }
}

/// Runs code that parses the command line, and converts its errors.
func reading<Result>(_ body: () throws(Failure) -> Result) throws(FleetRefusal) -> Result {
    do throws(Failure) {
        return try body()
    } catch {
        throw FleetRefusal(error)
    }
}
