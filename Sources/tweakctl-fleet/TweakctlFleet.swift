// Runs tweakctl-fleet, the operator's client of a fleet, which `tweakctl fleet` starts.

import TweaksSystem

/// The program.
@main
enum TweakctlFleet {
    static func main() async {
        System.occupyStandardStreams()
        System.ignoreBrokenPipes()
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(Failure) {
            let code = try await run(arguments)
            System.exit(code == .ok && Output.hasFailed ? .refused : code)
        } catch {
            FleetConsole(isJSON: false).output.reportProblem(error.description)
            System.exit(error.code)
        }
    }

    /// Runs the command of the arguments.
    private static func run(_ arguments: [String]) async throws(Failure) -> ExitCode {
        let console = FleetConsole(isJSON: false)
        if arguments.first == "__complete" {
            console.print(FleetCompletion.candidates(Array(arguments.dropFirst())))
            return .ok
        }
        let parsed = try FleetArguments(arguments)
        switch parsed.infoRequest {
        case .help?: console.output.print([FleetUsage.help])
        case .version?: console.print([FleetUsage.version])
        case nil: return try await FleetClient(parsed).run()
        }
        return .ok
    }
}
