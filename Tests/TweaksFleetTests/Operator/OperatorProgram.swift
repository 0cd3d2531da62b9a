// Runs commands of tweakctl-fleet in this process, on an etcd in memory.

import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet
@testable import TweaksFleetOperator

/// The exit code of a command and its lines, of standard output and standard error.
struct CommandResult {
    var code: ExitCode
    var lines: [String]

    var text: String { lines.joined(separator: "\n") }

    /// The object or array of the line with JSON.
    var json: JSON? { lines.first { $0.hasPrefix("{") || $0.hasPrefix("[") }.flatMap { JSON($0) } }
}

extension OperatorHarness {
    /// Runs a command of an operator.
    /// - Parameter fleet: The operator; nil for one at a fixed time.
    func run(_ line: String, as fleet: FleetOperator? = nil) async throws -> CommandResult {
        let arguments = try FleetArguments(["api"] + ShellWords.split(line))
        let lines = Recorder<String>()
        let console = FleetConsole(isJSON: arguments.isJSON) { lines.note($0) }
        var fleet = fleet ?? self.fleet()
        fleet.isDryRun = arguments.has(.dryRun)
        do throws(Failure) {
            let code = try await FleetClient(arguments, console, fleet, DriverLimits()).run()
            return CommandResult(code: code, lines: lines.all)
        } catch {
            return CommandResult(code: error.code, lines: lines.all + [error.description])
        }
    }
}
