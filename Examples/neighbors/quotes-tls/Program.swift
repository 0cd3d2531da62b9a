// Runs a process that follows a fleet over TLS, and prints its tweak whenever it changes.
//
// TWEAKS_FLEET=https://etcd-1.example.org:2379 TWEAKS_FLEET_CA=ca.pem swift run quotes-tls

import FleetTLS
import Foundation
import TweaksDaemon
import TweaksFleet

enum Upstream {
    static let timeout = Tweak(
        "Upstream", "Quotes", "Timeout", .seconds(2), in: .milliseconds(10) ... .seconds(30),
        help: "Time limit of a request")
}

@main
enum Program {
    static func main() async {
        do {
            let connector = try TLSConnector(environment: ProcessInfo.processInfo.environment)
            await TweakDaemon.main("quotes", sources: [.etcd(connector: connector)], tweaks: Upstream.timeout) {
                for await timeout in Upstream.timeout.values {
                    try FileHandle.standardOutput.write(contentsOf: Data("timeout \(timeout)\n".utf8))
                }
            }
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("quotes: \(error)\n".utf8))
            exit(2)
        }
    }
}
