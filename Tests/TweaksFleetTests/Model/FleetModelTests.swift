// Tests with random steps that each process converges to the values of the keys.

import Foundation
import Testing
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.timeLimit(.minutes(60)), .tags(.quantity)) struct FleetModelTests {
    /// Includes seeds that have found defects. `TWEAKS_FLEET_SEED=5` runs another one, and `TWEAKS_FLEET_SEEDS=200` the
    /// first 200, as `.ci/nightly` does.
    private static let seeds: [UInt64] =
        number("TWEAKS_FLEET_SEED").map { [$0] }
        ?? Array(1...max(1, number("TWEAKS_FLEET_SEEDS") ?? UInt64(quantity(40, few: 2))))

    private static func number(_ variable: String) -> UInt64? {
        ProcessInfo.processInfo.environment[variable].flatMap(UInt64.init)
    }

    @Test(arguments: seeds)
    func `After all changes each process has the values that the keys define for it`(seed: UInt64) async throws {
        let world = try FleetWorld(seed: seed)
        do {
            for process in world.processes { try world.start(process) }
            world.note("all are started")
            for _ in 0..<300 { try await world.step() }
            try await world.settle()
            try await world.checkStatuses()
        } catch let problem as WorldProblem {
            let steps = world.steps.suffix(60).joined(separator: "\n")
            Issue.record("seed \(seed): \(problem.text)\nafter\n\(steps)")
        }
        for process in world.processes { await world.end(process, inOrder: true) }
    }
}
