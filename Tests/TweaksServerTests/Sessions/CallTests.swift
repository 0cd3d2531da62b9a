// Tests calls of a program's own callers that no loop takes any more.

import Testing
import Tweaks

@testable import TweaksServer

@Suite struct CallTests {
    private func call() throws -> (ServerCall, CallStream) {
        let dialect = ServerCall.Dialect(make: { _ in LineDialect(limit: 10) }, refusal: { _ in [] })
        return try ServerCall.pair(ServerCall.Caller(name: "ada", scopes: []), dialect, nil, Kernel())
    }

    /// The caller waits for an answer, and must not do so forever.
    @Test(.timeLimit(.minutes(5))) func aCallAfterTheLastTurnEnds() async throws {
        let mailbox = try Mailbox()
        var streams: [CallStream] = []
        for isLate in [false, true] {
            if isLate { mailbox.close() }
            let (call, stream) = try call()
            mailbox.post(.called(call))
            streams.append(stream)
        }
        for stream in streams { #expect(await stream.read() == nil) }
        #expect(mailbox.count == 0)
    }

    @Test func aPlaceIsFreeOnceItIsReleased() {
        let places = CallPlaces()
        var first = places.take(of: 1)
        #expect(first != nil && places.take(of: 1) == nil)
        first = nil
        #expect(places.take(of: 1) != nil)
    }
}
