// Tests the sessions of a router's requests: events, ends, readers that stop, limits, windows.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@testable import TweaksPanel

@Suite(.blocking) struct MountedSessionTests {
    private static let bob = TweakPanelCaller(name: "bob", scopes: [.admin])

    @Test func changesArriveAsEvents() async throws {
        let panel = try MountedPanel()
        var (events, hello, snapshot) = try await panel.stream()
        #expect(hello.json["name"] as? String == "example" && hello.json["identity"] as? String == "caller ada")
        #expect(snapshot.paths.contains("Content/Text/Size"))
        _ = try await panel.ask("PATCH", "/tweaks/api/tweaks", PanelClient.size(72), as: Self.bob)
        let change = try #require(try await events.next())
        #expect(change.name == "change" && change.path == "Content/Text/Size")
        #expect(change.json["value"] as? Double == 72 && change.json["by"] as? String == "caller bob")
    }

    @Test func aBrokenStreamIsResumed() async throws {
        let panel = try MountedPanel()
        let id = try #require(try await panel.stream().snapshot.id)
        _ = try await panel.ask("PATCH", "/tweaks/api/tweaks", PanelClient.size(72))
        let (_, hello, snapshot) = try await panel.stream(["Last-Event-ID: \(id)"])
        #expect(hello.json["resumed"] as? Bool == true)
        #expect(snapshot.paths.contains("Content/Text/Size") && !snapshot.paths.contains("Content/Text/Color"))
    }

    // MARK: Ends

    @Test func cancelingTheReaderEndsTheSession() async throws {
        let panel = try MountedPanel()
        let reading = Gate()
        let task = Task { [panel] in
            // Also if there is no stream.
            defer { reading.open() }
            var (events, _, _) = try await panel.stream()
            reading.open()
            while try await events.next() != nil {}
        }
        await reading.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await panel.waitUntilClosed()
        #expect(try panel.connectByLine().ask("sessions").count == 2)
    }

    @Test func aCanceledTaskLeavesNoSession() async throws {
        let panel = try MountedPanel()
        let go = Gate()
        let task = Task { [panel] in
            await go.wait()
            return await panel.send("GET", "/tweaks/api/events")
        }
        task.cancel()
        go.open()
        _ = await task.value
        await panel.waitUntilClosed()
    }

    @Test func releasingTheBodyEndsTheSession() async throws {
        let panel = try MountedPanel()
        _ = try await panel.stream()
        await panel.waitUntilClosed()
        // Also one whose head alone was read.
        _ = await panel.send("GET", "/tweaks/api/events", as: Self.bob)
        await panel.waitUntilClosed("caller bob")
    }

    @Test func stoppingTheServerEndsTheBody() async throws {
        let panel = try MountedPanel()
        var (events, _, _) = try await panel.stream()
        let stop = Task.detached { [server = panel.server] in server.stop() }
        let last = try #require(try await events.next())
        let error = last.json["error"] as? [String: Any]
        #expect(last.name == "closing" && error?["code"] as? String == "closing")
        #expect(try await events.next() == nil)
        await stop.value
        let answer = try await panel.ask("GET", "/tweaks/api/whoami")
        #expect(answer.status == 503 && answer.code == "closing")
        try panel.server.start()
        #expect(try await panel.ask("GET", "/tweaks/api/whoami").status == 200)
    }

    @Test func aServerThatWasNotStartedAnswers503() async throws {
        let server = TweakServer(name: "idle", registry: TweakRegistry(), listeners: [])
        let handler = TweakPanelHandler(server, origins: [])
        let request = TweakPanelRequest(method: "GET", target: "/tweaks/")
        #expect(await handler.respond(to: request, as: MountedPanel.ada).status == 503)
    }

    @Test func aKickedSessionIsTold() async throws {
        let panel = try MountedPanel()
        var (events, _, _) = try await panel.stream(["Tweaks-Window: 1234567890"])
        let sessions = try await panel.ask("GET", "/tweaks/api/sessions", as: Self.bob).items("sessions")
        let number = try #require(sessions.first { $0["identity"] as? String == "caller ada" }?["session"] as? Int)
        #expect(try await panel.ask("DELETE", "/tweaks/api/sessions/\(number)", as: Self.bob).status == 200)
        #expect(try await events.next()?.name == "closing")
        #expect(try await events.next() == nil)
    }

    // MARK: Readers

    @Test func aReaderThatStopsStopsTheServer() async throws {
        let count = 20_000
        let panel = try MountedPanel(.many(count)) { $0.unsentBytes = 65_536 }
        let response = await panel.send("GET", "/tweaks/api/tweaks")
        var parts = response.body.makeAsyncIterator()
        _ = try await parts.next()
        // Requests of others are answered meanwhile, so the server has had its turns.
        let line = try panel.connectByLine()
        for _ in 1...3 { try line.ask("ping") }
        let sessions = try await panel.ask("GET", "/tweaks/api/sessions", as: Self.bob).items("sessions")
        let unsent = sessions.first { $0["identity"] as? String == "caller ada" }?["unsentBytes"] as? Int
        #expect(try #require(unsent) <= 2 * 65_536)
        var bytes = 0
        while let part = try await parts.next() { bytes += part.count }
        #expect(bytes > 1_000_000)
        #expect(try await panel.ask("GET", "/tweaks/api/tweaks").paths.count == count + 9)
    }

    @Test func aReaderThatStopsMissesNoLastValue() async throws {
        let panel = try MountedPanel { $0.unsentBytes = 16_384 }
        var (events, _, _) = try await panel.stream()
        let text = String(repeating: "x", count: 2_000)
        let count = 2_000
        let line = try panel.connectByLine()
        for number in 1...count { try line.ask("set Content/Text/String \(text)\(number)") }
        var last = ""
        while last != "\(text)\(count)" {
            let event = try #require(try await events.next())
            if event.name == "change" { last = event.json["value"] as? String ?? "" }
        }
    }

    /// All flags are written at once. Their session ends while more of them wait than the kernel holds.
    @Test func theEndOfAnAnswerWaitsForASlowReader() async throws {
        let panel = try MountedPanel(.many(2_700))
        let response = await panel.send("POST", "/tweaks/ofrep/v1/evaluate/flags", "{}")
        var parts = response.body.makeAsyncIterator()
        var bytes: [UInt8] = []
        while !panel.hasClosed() {
            bytes += try #require(try await parts.next())
            try panel.pass(.zero)
        }
        let length = try #require(response.headers.first { $0.name == "Content-Length" }.flatMap { Int($0.value) })
        #expect(bytes.count < length - 98_304)
        for _ in 1...3 {
            try panel.pass(.seconds(6))
            bytes += try #require(try await parts.next())
        }
        while let part = try await parts.next() { bytes += part }
        #expect(bytes.count == length)
    }

    @Test func theGreediestReaderLosesItsSession() async throws {
        let panel = try MountedPanel(.many(20_000)) {
            ($0.memoryBytes, $0.unsentBytes) = (2 * 1_048_576, 1_048_576)
        }
        let responses = await withTaskGroup(of: TweakPanelResponse.self) { group in
            for _ in 0..<16 { group.addTask { await panel.send("GET", "/tweaks/api/tweaks") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses.count == 16)
        await panel.events.wait { event in
            if case .closed(.limit) = event.session.state { true } else { false }
        }
        // What was cut off does not look whole, although its length was not known.
        var isCut = false
        for response in responses {
            do {
                let bytes = try await response.body.reduce(into: []) { $0 += $1 }
                #expect(bytes.isEmpty || bytes.suffix(2) == Array("}\n".utf8), "\(response.status)")
            } catch let error as TweakError {
                isCut = true
                #expect(error.code == .closing)
            }
        }
        #expect(isCut)
    }

    /// All flags are one response, whose head has their tag.
    @Test func aSessionThatEndsBeforeItsAnswerIsNotTheEndOfTheServer() async throws {
        let panel = try MountedPanel(.many(20_000)) { $0.memoryBytes = 1_048_576 }
        let answer = try await panel.ask("POST", "/tweaks/ofrep/v1/evaluate/flags", "{}")
        #expect(answer.status == 429 && answer.code == "too-many", "\(answer.body)")
    }

    @Test func aBodyThatIsCutOffIsAnError() async throws {
        var cut = TweakPanelBody([1, 2, 3], nil, length: 4).makeAsyncIterator()
        #expect(try await cut.next() == [1, 2, 3])
        await #expect(throws: TweakError.self) { try await cut.next() }
        var whole = TweakPanelBody([1, 2, 3], nil, length: 3).makeAsyncIterator()
        #expect(try await whole.next() == [1, 2, 3])
        #expect(try await whole.next() == nil)
        // Of unknown length.
        var open = TweakPanelBody([1, 2, 3], nil, length: nil).makeAsyncIterator()
        #expect(try await open.next() == [1, 2, 3])
        await #expect(throws: TweakError.self) { try await open.next() }
        for bytes in [[1, 2], []] as [[UInt8]] {
            var ended = TweakPanelBody(bytes + [MountedRequest.endOfBody], nil, length: nil).makeAsyncIterator()
            if !bytes.isEmpty { #expect(try await ended.next() == bytes) }
            #expect(try await ended.next() == nil)
        }
    }

    // MARK: Limits

    @Test func aCallerHasItsShareOfSessions() async throws {
        let panel = try MountedPanel { $0.sessionsPerPeer = 2 }
        let streams = [try await panel.stream(), try await panel.stream()]
        let refused = try await panel.ask("GET", "/tweaks/api/whoami")
        #expect(refused.status == 429 && refused.code == "too-many")
        // Others have a share of their own, and requests that are answered take no place.
        for _ in 1...4 { #expect(try await panel.ask("GET", "/tweaks/api/whoami", as: Self.bob).status == 200) }
        withExtendedLifetime(streams) {}
    }

    @Test func allCallersHaveTheServersLimit() async throws {
        let panel = try MountedPanel { ($0.sessions, $0.refusedSessions) = (2, 0) }
        let lines = [try panel.connectByLine(), try panel.connectByLine()]
        for line in lines { try line.ask("ping") }
        #expect(try await panel.ask("GET", "/tweaks/api/whoami").status == 429)
        withExtendedLifetime(lines) {}
    }

    /// Each session has two descriptors.
    @Test func callersHaveHalfOfTheSessions() async throws {
        let panel = try MountedPanel { $0.sessions = 4 }
        var streams = [try await panel.stream(), try await panel.stream(as: Self.bob)]
        let refused = try await panel.ask("GET", "/tweaks/api/whoami")
        #expect(refused.status == 429 && refused.message?.hasPrefix("2 requests of callers are open") == true)
        streams.removeLast()
        #expect(try await panel.ask("GET", "/tweaks/api/whoami").status == 200)
        withExtendedLifetime(streams) {}
    }

    @Test func commitsAreChargedToTheCaller() async throws {
        let panel = try MountedPanel(clock: ManualClock()) { $0.commitsPerSecond = 1 }
        var statuses: [Int] = []
        for size in 20..<24 {
            statuses.append(try await panel.ask("PATCH", "/tweaks/api/tweaks", PanelClient.size(size)).status)
        }
        #expect(statuses.contains(429))
        #expect(try await panel.ask("PATCH", "/tweaks/api/tweaks", PanelClient.size(30), as: Self.bob).status == 200)
    }

    // MARK: Windows

    @Test func theRequestsOfAWindowAreOneSession() async throws {
        let panel = try MountedPanel()
        let window = ["Tweaks-Window: window-0001"]
        let stream = try await panel.stream(window)
        let set = try await panel.ask("PATCH", "/tweaks/api/tweaks", PanelClient.size(72), window)
        #expect(set.status == 200)
        let sessions = try await panel.ask("GET", "/tweaks/api/sessions", nil, window).items("sessions")
        #expect(sessions.count == 1 && sessions.first?["own"] as? Bool == true)
        #expect(sessions.first?["commits"] as? Int == 1)
        #expect(try await panel.ask("POST", "/tweaks/api/undo", #"{"mine":true}"#, window).status == 200)
        // The same window of another caller is another one.
        let others = try await panel.ask("GET", "/tweaks/api/sessions", nil, window, as: Self.bob).items("sessions")
        #expect(others.count == 2)
        withExtendedLifetime(stream) {}
    }

    @Test func aPreviewEndsWithItsStream() async throws {
        let panel = try MountedPanel()
        let window = ["Tweaks-Window: window-0001"]
        var stream: (events: MountedEvents, hello: PanelEvent, snapshot: PanelEvent)? = try await panel.stream(window)
        let number = try #require(stream?.hello.json["stream"] as? Int)
        let body = #"{"stream":\#(number),"changes":[{"path":"Content/Text/Size","value":72}]}"#
        // Of another caller there is no such stream.
        #expect(try await panel.ask("PUT", "/tweaks/api/preview", body, window, as: Self.bob).status == 404)
        #expect(try await panel.ask("PUT", "/tweaks/api/preview", body, window).status == 200)
        #expect(panel.registry["Content/Text/Size"]?.value == .number(72))
        let line = try panel.connectByLine()
        #expect(try line.ask("watch Content/Text/Size").contains { $0.contains("72") })
        stream = nil
        #expect(try line.line().contains("60"))
        #expect(panel.registry["Content/Text/Size"]?.value == .number(60))
    }
}
