// Tests a session of tweakctl-fleet that drives a rollout: what it says at a pause and at its end, and its screen.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet
@testable import TweaksFleetOperator

@Suite struct RolloutSessionTests {
    @Test(arguments: [true, false])
    func `Without a terminal a pause ends the driver, which says what becomes of the rollout`(
        _ revertsOnExit: Bool
    ) async throws {
        let harness = OperatorHarness()
        for number in 0..<3 { harness.register("i\(number)") }
        let lines = Mutex<[String]>([])
        let console = FleetConsole(isJSON: false) { line in lines.withLock { $0.append(line) } }
        var limits = DriverLimits()
        // Members that have not reported at once pause it.
        limits.timing.reportTimeout = .zero
        let client = FleetClient(try FleetArguments(["api", "rollout", "x"]), console, harness.fleet(), limits)
        let claim = try await harness.fleet().claim("r1", host: "h", pid: 1)
        var plan = try harness.plan("A/B/C", .int(1))
        plan.lease = revertsOnExit ? claim.lease : nil
        _ = try await harness.fleet().begin(plan)
        let session = RolloutSession(client, claim, revertsOnExit: revertsOnExit, isInteractive: false)
        #expect(await session.run() == .refused)
        let fate = revertsOnExit ? "is reverted with it" : "stays at its share: resume r1 drives it on"
        let end = lines.withLock { $0.last } ?? ""
        #expect(end.contains("no terminal to resume it on, so this driver ends, and the rollout \(fate)"), "\(end)")
        #expect(try await harness.rollout()?.value.state == (revertsOnExit ? nil : .paused))
    }
}

@Suite(
    .blockingCluster, .tags(.process), .needsEtcd,
    .enabled(if: BuiltProgram.exists("tweakctl-fleet"), "tweakctl-fleet is not built here")
) struct RolloutScreenTests {
    @Test func `An unknown word leaves one prompt, one hint for each word, and one block`() async throws {
        let fleet = try await FleetProgramFixture(processes: 3)
        let rollout = "api rollout 'Service/Pool/Size = 80' --steps 100 --every 60s --yes"
        let program = BuiltProgram.path("tweakctl-fleet")
        let terminal = try PseudoTerminal(
            .sh, ["-c", "stty cols 120; TERM=xterm TWEAKS_FLEET=\(fleet.url) exec \(program) \(rollout)"])
        var output = try terminal.read(through: "0 of 3 reported")
        // The block of a paused rollout does not change, so nothing is drawn between the echo of a word and its reading.
        try fleet.expect("api pause \(try fleet.rolloutID())")
        output += try terminal.read(through: "r resumes it, a aborts it")
        for word in ["x", "why"] {
            try terminal.type("\(word)\r")
            output += try terminal.read(through: "\(word): type p, r, a or y")
            output += try terminal.read(through: "r resumes it, a aborts it")
        }
        let screen = Self.screen(output)
        for text in ["p pauses it", " x: type p", " why: type p", "##", "reported, 0 refused", "r resumes it"] {
            #expect(screen.count { $0.contains(text) } == 1, "\(text)\n\(screen.joined(separator: "\n"))")
        }
        #expect(screen.count { $0.hasSuffix("  100 %") } == 1)
    }

    /// The lines on a terminal after an output that moves the cursor up and erases what is below it.
    private static func screen(_ output: String) -> [String] {
        var (lines, row) = ([""], 0)
        for part in output.split(separator: "\u{1B}[", omittingEmptySubsequences: false).enumerated() {
            var text = part.element
            if part.offset > 0, let end = text.firstIndex(where: \.isLetter) {
                if text[end] == "A" { row = max(0, row - (Int(text[..<end]) ?? 1)) }
                if text[end] == "J" { lines = lines[..<row] + [""] }
                text = text[text.index(after: end)...]
            }
            for character in text {
                if character == "\n" {
                    row += 1
                    if row == lines.count { lines.append("") }
                } else {
                    lines[row].append(character)
                }
            }
        }
        return lines
    }
}
