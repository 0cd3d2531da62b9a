// Implements the command panel: serves the page of a fleet until it is interrupted.

import Tweaks
import TweaksFleet
import TweaksSystem

extension FleetClient {
    func panel() async throws(FleetRefusal) -> ExitCode {
        let port = try reading { () throws(Failure) in try arguments.port() }
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        let interrupts = Interrupts { continuation.yield() }
        let panel = try await FleetPanel(fleet, limits, prometheus, port: port) { [console] in
            console.output.reportProblem($0)
        }
        show(panel.address, "panel")
        panel.onSignIn { [self] in show($0, "the next sign-in:") }
        if !console.isJSON {
            console.output.printRemark(
                "Ctrl-C ends it, and with it the rollouts that it drives: they are reverted, or stay at their share if "
                    + "begun so; a drive service drives its own on")
        }
        for await _ in signals { break }
        interrupts.cancel()
        await panel.stop()
        return .ok
    }

    private func show(_ address: String, _ what: String) {
        console.isJSON
            ? console.print(.object([("address", .string(address))])) : console.print(["\(what) \(address)"])
    }
}

extension FleetArguments {
    /// The preferred port; 0 for any.
    func port() throws(Failure) -> Int {
        guard let text = value(.port) else { return 0 }
        guard let port = UInt16(text), !text.hasPrefix("+") else {
            throw Failure(.usage, "--port: \(Quoting.excerpt(text)) is not a port; write a number up to 65535")
        }
        return Int(port)
    }
}
