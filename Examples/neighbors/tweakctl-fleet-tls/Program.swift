// Runs tweakctl-fleet with TLS: a program of three lines, to be installed as tweakctl-fleet.

import FleetTLS
import Foundation
import TweaksFleetOperator

@main
enum Program {
    static func main() async {
        do {
            let connector = try TLSConnector(environment: ProcessInfo.processInfo.environment)
            exit(await TweakctlFleet.run(Array(CommandLine.arguments.dropFirst()), connector: connector))
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("tweakctl-fleet: \(error)\n".utf8))
            exit(2)
        }
    }
}
