// Does what the command line says to one fleet.

import Tweaks
import TweaksFleet
import TweaksSystem
import TweaksTerminal

/// The times of a driver. Tests have no minutes.
struct DriverPace: Sendable {
    var timing = DriverTiming()
    /// Seconds without a sign of the driver until another one may take over.
    var claim = DriverClaim.seconds
    /// The least `--every`, in seconds: a figure has to be sampled twice before a step is taken.
    var leastEvery: Int64 = 60
}

/// One run of the program.
struct FleetClient {
    let arguments: FleetArguments
    let console: FleetConsole
    let fleet: FleetOperator
    let pace: DriverPace

    var keys: FleetKeys { fleet.keys }
    var now: Int64 { fleet.now() }

    init(_ arguments: FleetArguments) throws(Failure) {
        self.arguments = arguments
        console = FleetConsole(isJSON: arguments.isJSON)
        let settings = try OperatorSettings(arguments, ThisProcess.environment)
        var fleet = FleetOperator(
            try settings.etcd(), settings.keys, by: settings.who, now: { ThisProcess.wallClock })
        fleet.isDryRun = arguments.has(.dryRun)
        (self.fleet, pace) = (fleet, DriverPace())
    }

    init(_ arguments: FleetArguments, _ console: FleetConsole, _ fleet: FleetOperator, _ pace: DriverPace) {
        (self.arguments, self.console, self.fleet, self.pace) = (arguments, console, fleet, pace)
    }

    /// Runs the verb.
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
        case .status: try await status()
        case .history: try await history()
        case .export: try await export()
        case .check: return try await check()
        case .set, .import: return try await set()
        case .reset: try await reset()
        case .undo: try await undo()
        case .pause: try await receipt("paused rollout \(id)", fleet.pause(id))
        case .finish: try await finish()
        case .abort: try await receipt("aborted rollout \(id)", fleet.abort(id))
        case .adopt: return try await adopt()
        case .rollout: return try await rollout()
        case .resume: return try await resume()
        case .watch: return try await watch()
        }
        return .ok
    }

    /// The rollout that the words name.
    var id: String { arguments.words.first ?? "" }

    func receipt(_ what: String, _ receipt: FleetReceipt) { console.print(receipt, keys, what) }

    /// The pattern that the words name; everything without one.
    func pattern() throws(FleetRefusal) -> TweakPattern? {
        guard let text = arguments.words.first else { return nil }
        return try pattern(text)
    }

    func pattern(_ text: String) throws(FleetRefusal) -> TweakPattern {
        if let pattern = TweakPattern(text) { return pattern }
        throw FleetRefusal(.usage, "\(Quoting.excerpt(text)) is no pattern; write category/collection/name, * and **")
    }
}

extension FleetRefusal {
    /// The same for what the command line says.
    init(_ failure: Failure) {
        let kind: Kind =
            switch failure.code {
            case .usage: .usage
            case .unreachable: .unreachable
            case .ok, .refused: .refused
            }
        self.init(kind, failure.description)
    }
}

extension Failure {
    init(_ refusal: FleetRefusal) {
        let code: ExitCode =
            switch refusal.kind {
            case .refused: .refused
            case .usage: .usage
            case .unreachable: .unreachable
            }
        self.init(code, refusal.description)
    }
}

/// Runs what reads the command line where refusals are thrown.
func reading<Result>(_ body: () throws(Failure) -> Result) throws(FleetRefusal) -> Result {
    do throws(Failure) {
        return try body()
    } catch {
        throw FleetRefusal(error)
    }
}
