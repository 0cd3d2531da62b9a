// Faults of the kernel: what passes is not noticed, what breaks a connection breaks that one alone, and nothing stays.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite(.blocking) struct FaultTests {
    private func server(_ faults: SocketFaults, _ registry: TweakRegistry? = nil) throws -> TestServer {
        var hooks = TweakServerHooks()
        hooks.faults = faults
        return try TestServer(registry: registry ?? ExampleTweaks().registry, hooks: hooks)
    }

    // MARK: What passes

    /// What a call comes to that has to be made again, or with the rest.
    struct Nuisance: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let plan: SocketFaults.Plan

        init(_ name: String, _ plan: @escaping SocketFaults.Plan) { (testDescription, self.plan) = (name, plan) }
    }

    static let nuisances = [
        Nuisance("a byte at a time is read") { call, _ in call == .receive ? .atMost(1) : .real },
        Nuisance("a byte at a time is written") { call, _ in call == .send ? .atMost(1) : .real },
        Nuisance("a byte at a time, both ways") { _, _ in .atMost(1) },
        Nuisance("nothing can be read, four times of five") { call, number in
            call == .receive && number % 5 != 0 ? .fails(EAGAIN) : .real
        },
        Nuisance("nothing can be written, four times of five") { call, number in
            call == .send && number % 5 != 0 ? .fails(EAGAIN) : .real
        },
        Nuisance("every other call is interrupted") { call, number in
            call == .watch || number % 2 == 0 ? .real : .fails(EINTR)
        },
        Nuisance("the poller wakes for nothing") { call, number in
            call == .wait && number % 3 != 0 ? .none : .real
        },
        Nuisance("the poller tells of one at a time") { call, _ in call == .wait ? .atMost(1) : .real },
        Nuisance("a little of everything") { call, number in
            let outcomes: [SocketFaults.Outcome] = [.real, .atMost(3), .fails(EAGAIN), .fails(EINTR)]
            return call == .receive || call == .send ? outcomes[number % 4] : .real
        },
    ]

    @Test(arguments: nuisances, Transport.available)
    func isNotNoticed(_ nuisance: Nuisance, _ transport: Transport) throws {
        let lines =
            "json\nget *\nset Content/Text/Size 500\njson off\nget *\nset Content/Text/Size 72\nbegin\n"
            + "Content/Text/Size = 80\nContent/Text/String = x\ncommit\nrun Player/Audio/Mute\nexport\n"
            + "watch Content\nContent/Text/Size += 1\nset Content/Text/Size 500\nundo\n"
        var answers: [[String]] = []
        for plan in [nil, nuisance.plan] {
            let client = try server(SocketFaults(plan)).connect(transport)
            try client.send(lines)
            client.endInput()
            // Events come when it suits the round, or not at all before the end; the port of TCP is another one.
            let replies = try client.restOfLines().filter { !$0.hasPrefix("event ") }
            answers.append(replies.map { String($0[..<($0.firstRange(of: " by ")?.lowerBound ?? $0.endIndex)]) })
        }
        #expect(answers[0].count > 30)
        #expect(answers[0] == answers[1])
    }

    // MARK: No descriptors, no memory

    /// Newcomers are told, or wait; and are served when it is over. Nobody who is there is hindered.
    @Test(arguments: [EMFILE, ENFILE, ENOMEM, ENOBUFS, EPERM, EPROTO])
    func acceptRecovers(_ code: Int32) throws {
        let faults = SocketFaults()
        let server = try server(faults)
        let known = try server.connect()
        try known.ask("ping")
        faults.plan { call, number in call == .accept && number < 6 ? .fails(code) : .real }
        let newcomer = try server.connect()
        #expect(try known.ask("ping") == ["ok pong"])
        let line = try newcomer.ask("ping")
        #expect(line == ["ok pong"] || line[0].hasPrefix("error too-many this process has no descriptors left"))
        #expect(try server.connect().ask("ping") == ["ok pong"])
        #expect(try LimitTableTests.figures(known).contains { $0.hasPrefix("descriptors ") })
    }

    /// A connection that cannot be watched is turned away.
    @Test(arguments: [ENOMEM, ENOSPC]) func aNewcomerCannotBeWatched(_ code: Int32) throws {
        let faults = SocketFaults()
        let server = try server(faults)
        let known = try server.connect()
        try known.ask("ping")
        faults.plan { call, number in call == .watch && number == 1 ? .fails(code) : .real }
        let lines = try server.connect().restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-many this process has no descriptors left"))
        #expect(try server.connect().ask("ping") == ["ok pong"])
        #expect(try LimitTableTests.figures(known) == ["descriptors 1"])
    }

    /// One that is not heard of any more would hang for ever.
    @Test func aSessionCannotBeWatchedAnyMore() throws {
        let faults = SocketFaults()
        let server = try server(faults)
        let (client, other) = (try server.connect(), try server.connect())
        try client.ask("ping")
        try other.ask("ping")
        faults.plan { call, _ in call == .watch ? .fails(ENOMEM) : .real }
        let sent = client.sendMeanwhile(String(repeating: "get *\n", count: 5_000))
        // Nobody reads, so the server has to wait until it can write, and cannot.
        try eventually { try other.ask("stats").contains("  sessions: 1") }
        sent.waitBlocking()
        #expect(throws: (any Error).self) { while true { _ = try client.reply() } }
    }

    // MARK: What breaks

    @Test(arguments: [SystemCall.receive, .send], [ECONNRESET, EPIPE, ETIMEDOUT, ENOTCONN, ENOMEM])
    func aBrokenConnectionIsOne(_ call: SystemCall, _ code: Int32) throws {
        let faults = SocketFaults()
        let server = try server(faults)
        let (client, other) = (try server.connect(), try server.connect(.tcp4))
        try client.ask("watch *")
        try other.ask("ping")
        faults.plan { made, number in made == call && number == 1 ? .fails(code) : .real }
        try client.send("Content/Text/Size = 72\n")
        #expect(throws: (any Error).self) { while true { _ = try client.line() } }
        #expect(try other.ask("stats").contains("  sessions: 1"))
        #expect(try other.ask("stats").contains("  watchers: 0"))
        // What was read was done, whether or not anybody could be told.
        #expect(server.registry.revision == (call == .send ? 1 : 0))
    }

    // MARK: All of it at once

    /// Each client has a tweak of its own: what it is told must be what it has set, until its connection breaks.
    @Test(arguments: 1...8 as ClosedRange<UInt64>) func allAtOnce(_ seed: UInt64) throws {
        let registry = TweakRegistry()
        for number in 0..<10 { _ = Tweak("Load", "Count", "C\(number)", 0, registry: registry) }
        let faults = SocketFaults(seed: seed, rarity: 150)
        let server = try server(faults, registry)
        var random = SeededGenerator(seed: seed)
        var clients: [(client: TestClient, model: Model)?] = Array(repeating: nil, count: 10)
        for step in 0..<quantity(600) {
            let number = Int(random.next() % 10)
            guard case (let client, var model)? = clients[number] else {
                let before = registry["Load/Count/C\(number)"]?.value
                let transport = random.next() % 2 == 0 ? Transport.unix : .tcp4
                clients[number] = (try server.connect(transport), Model(number: number, value: before))
                continue
            }
            do {
                try model.exchange(client, step, &random)
                clients[number] = (client, model)
                if random.next() % 20 == 0 { clients[number] = nil }
            } catch is ClientError {
                // Broken: what it sent last was done, or was not.
                let now = registry["Load/Count/C\(number)"]?.value
                #expect(now == model.value || now == model.wanted, "C\(number) at \(step)")
                clients[number] = nil
            }
        }
        faults.plan(nil)
        clients = []
        let observer = try server.connect()
        try eventually { try observer.ask("stats").contains("  sessions: 1") }
        #expect(try observer.ask("get Load/Count/C0").last == "ok")
    }

    /// What one client must be told.
    struct Model {
        let number: Int
        var value: TweakValue?
        /// What it has asked for and was not told of yet.
        var wanted: TweakValue?

        var path: String { "Load/Count/C\(number)" }

        mutating func exchange(_ client: TestClient, _ step: Int, _ random: inout SeededGenerator) throws {
            switch random.next() % 4 {
            case 0:
                let lines = try client.ask("get \(path)")
                if isRefused(lines) { throw ClientError.ended("") }
                #expect(lines.first?.hasPrefix("\(path) = \(value?.text ?? "") ") == true, "\(lines)")
            case 1:
                if isRefused(try client.ask("export")) { throw ClientError.ended("") }
            case 2:
                let lines = try client.ask("nonsense/\(step)")
                if isRefused(lines) { throw ClientError.ended("") }
                #expect(lines.last?.hasPrefix("error unknown-command") == true, "\(lines)")
                // On a connection that has not proven itself that is the end.
                if !isProven { throw ClientError.ended("") }
            default:
                wanted = .int(Int64(step))
                let lines = try client.ask("\(path) = \(step)")
                if isRefused(lines) { throw ClientError.ended("") }
                #expect(lines.last?.hasPrefix("ok rev ") == true, "\(lines)")
                value = wanted
            }
            isProven = true
        }

        private var isProven = false

        init(number: Int, value: TweakValue?) { (self.number, self.value) = (number, value) }

        /// Whether it was turned away for want of descriptors.
        private func isRefused(_ lines: [String]) -> Bool { lines.first?.hasPrefix("error too-many ") == true }
    }
}
