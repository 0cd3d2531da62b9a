// The story of the guide, from the first value to the brake, as it is told there.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

extension DocumentedBlock {
    static let story = all("fleet-transcript", of: "Sources/TweaksFleet/TweaksFleet.docc/RunningAFleet.md")
}

@Suite(.needsEtcd, .clustered, .serialized, .tags(.process)) struct RolloutStoryTests {
    @Test func `A rollout is what the guide says, from the first value to the brake`() async throws {
        #expect(DocumentedBlock.story.count == 1)
        let fleet = try await StoryFleet()
        let replay = FleetReplay(fleet)
        for block in DocumentedBlock.story {
            let transcript = FleetTranscript(block.text)
            #expect(transcript.steps.count >= 15)
            for step in transcript.steps { try await replay.run(step) }
        }
        await replay.end()
        // And the processes have what is left in the end.
        try await fleet.settle()
        for process in fleet.all {
            #expect(try process.value("Upstream/Quotes/Timeout") == "2s")
            #expect(try process.value("Upstream/Quotes/Retries") == "2")
        }
        await fleet.close()
    }
}
