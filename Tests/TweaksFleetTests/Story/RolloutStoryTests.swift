// Replays the transcript of the guide, from the first value to the aborted rollout.

import Testing
import TweaksTestSupport

@testable import TweaksFleet

extension DocumentedBlock {
    static let story = all("fleet-transcript", of: "Sources/TweaksFleet/TweaksFleet.docc/RunningAFleet.md")
}

@Suite(.needsEtcd, .clustered, .tags(.process)) struct RolloutStoryTests {
    @Test func `The transcript of the guide is what operators see`() async throws {
        #expect(DocumentedBlock.story.count == 1)
        let fleet = try await StoryFleet()
        do {
            try await replay(fleet)
        } catch {
            await fleet.close()
            throw error
        }
        await fleet.close()
    }

    private func replay(_ fleet: StoryFleet) async throws {
        let replay = FleetReplay(fleet)
        for block in DocumentedBlock.story {
            let transcript = FleetTranscript(block.text)
            #expect(transcript.steps.count >= 15)
            for step in transcript.steps { try await replay.run(step) }
        }
        await replay.end()
        // The processes have the values that the transcript ends with.
        try await fleet.settle()
        for process in fleet.all {
            #expect(try process.value("Upstream/Quotes/Timeout") == "2s")
            #expect(try process.value("Upstream/Quotes/Retries") == "2")
        }
    }
}
