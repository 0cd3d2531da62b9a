// Runs tweakctl-fleet, the operator's client of a fleet.

import TweaksFleetOperator
import TweaksSystem

@main
enum TweakctlFleetProgram {
    static func main() async { System.exit(await TweakctlFleet.run(Array(CommandLine.arguments.dropFirst()))) }
}
