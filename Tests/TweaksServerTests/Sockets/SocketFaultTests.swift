// Tests faults of system calls: transient ones have no effect, others end one connection, and no session is left.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct SocketFaultTests {
    private func server(
        _ faults: SocketFaults, _ registry: TweakRegistry = ExampleTweaks().registry
    ) throws -> TestServer {
        var hooks = TweakServerHooks()
        hooks.faults = faults
        return try TestServer(registry: registry, hooks: hooks)
    }

    // MARK: Transient faults

    /// Outcomes after which a call must be repeated, or continued with the rest.
    struct TransientFault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let plan: SocketFaults.Plan

        init(_ name: String, _ plan: @escaping SocketFaults.Plan) { (testDescription, self.plan) = (name, plan) }
    }

    static let transientFaults = [
        TransientFault("reads return one byte") { call, _ in call == .receive ? .atMost(1) : .real },
        TransientFault("writes take one byte") { call, _ in call == .send ? .atMost(1) : .real },
        TransientFault("reads and writes of one byte") { _, _ in .atMost(1) },
        TransientFault("four of five reads would block") { call, number in
            call == .receive && number % 5 != 0 ? .fails(EAGAIN) : .real
        },
        TransientFault("four of five writes would block") { call, number in
            call == .send && number % 5 != 0 ? .fails(EAGAIN) : .real
        },
        TransientFault("every other call is interrupted") { call, number in
            call == .watch || number % 2 == 0 ? .real : .fails(EINTR)
        },
        TransientFault("the poller wakes without events") { call, number in
            call == .wait && number % 3 != 0 ? .none : .real
        },
        TransientFault("the poller reports one event at a time") { call, _ in call == .wait ? .atMost(1) : .real },
        TransientFault("several faults in turn") { call, number in
            let outcomes: [SocketFaults.Outcome] = [.real, .atMost(3), .fails(EAGAIN), .fails(EINTR)]
            return call == .receive || call == .send ? outcomes[number % 4] : .real
        },
    ]

    @Test(arguments: transientFaults, Transport.available)
    func transientFaultsChangeNoReply(_ fault: TransientFault, _ transport: Transport) throws {
        let lines =
            "json\nget *\nset Content/Text/Size 500\njson off\nget *\nset Content/Text/Size 72\nbegin\n"
            + "Content/Text/Size = 80\nContent/Text/String = x\ncommit\nrun Player/Audio/Mute\nexport\n"
            + "watch Content\nContent/Text/Size += 1\nset Content/Text/Size 500\nundo\n"
        let replies = try [nil, fault.plan].map { plan in
            // Events may come in another round or after the end; TCP ports differ.
            let lines = try server(SocketFaults(plan)).connect(transport).exchange(lines)
            return lines.filter { !$0.hasPrefix("event ") }
                .map { String($0[..<($0.firstRange(of: " by ")?.lowerBound ?? $0.endIndex)]) }
        }
        #expect(replies[0].count > 30)
        #expect(replies[0] == replies[1])
    }

    // MARK: No descriptors, no memory

    /// New clients are refused or wait, and are served when the fault is over; others are served all the time.
    @Test(arguments: [EMFILE, ENFILE, ENOMEM, ENOBUFS, EPERM, EPROTO])
    func aFailedAcceptDelaysNewClientsOnly(_ code: Int32) throws {
        let faults = SocketFaults()
        let (server, known) = try server(faults).withClient()
        try known.ask("ping")
        faults.plan { call, number in call == .accept && number < 6 ? .fails(code) : .real }
        let newcomer = try server.connect()
        #expect(try known.ask("ping") == ["ok pong"])
        let line = try newcomer.ask("ping")
        #expect(line == ["ok pong"] || line[0].hasPrefix("error too-many this process has no descriptors left"))
        #expect(try server.connect().ask("ping") == ["ok pong"])
        #expect(try known.hasHit("descriptors"))
    }

    @Test(arguments: [ENOMEM, ENOSPC]) func aNewConnectionThatCannotBePolledIsRefused(_ code: Int32) throws {
        let faults = SocketFaults()
        let (server, known) = try server(faults).withClient()
        try known.ask("ping")
        faults.plan { call, number in call == .watch && number == 1 ? .fails(code) : .real }
        let lines = try server.connect().restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-many this process has no descriptors left"))
        #expect(try server.connect().ask("ping") == ["ok pong"])
        #expect(try known.limitsHit() == ["descriptors 1"])
    }

    /// Else it would hang forever.
    @Test func aSessionThatCannotBePolledAnyMoreIsClosed() throws {
        let faults = SocketFaults()
        let (_, client, other) = try server(faults).withTwoClients()
        try client.ask("ping")
        try other.ask("ping")
        faults.plan { call, _ in call == .watch ? .fails(ENOMEM) : .real }
        // The replies are not read, so the server must poll until it can write.
        let sent = client.sendMeanwhile(String(repeating: "get *\n", count: 5_000))
        try eventually { try other.stats("sessions") == "1" }
        sent.waitBlocking()
        #expect(throws: (any Error).self) { while true { _ = try client.reply() } }
    }

    // MARK: Broken connections

    @Test(arguments: [SystemCall.receive, .send], [ECONNRESET, EPIPE, ETIMEDOUT, ENOTCONN, ENOMEM])
    func aBrokenConnectionEndsItsSessionOnly(_ call: SystemCall, _ code: Int32) throws {
        let faults = SocketFaults()
        let server = try server(faults)
        let (client, other) = (try server.connect(), try server.connect(.tcp4))
        try client.ask("watch *")
        try other.ask("ping")
        faults.plan { made, number in made == call && number == 1 ? .fails(code) : .real }
        try client.send("Content/Text/Size = 72\n")
        #expect(throws: (any Error).self) { while true { _ = try client.line() } }
        #expect(try other.stats("sessions") == "1" && other.stats("watchers") == "0")
        // A request that was read was done, even if its reply could not be sent.
        #expect(server.registry.revision == (call == .send ? 1 : 0))
    }

    // MARK: Random faults

    /// Each client changes a tweak of its own: replies must match its changes until its connection breaks.
    @Test(arguments: 1...8 as ClosedRange<UInt64>) func randomFaultsCorruptNoReply(_ seed: UInt64) throws {
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
                // The connection broke: the last request was done, or was not.
                let now = registry["Load/Count/C\(number)"]?.value
                #expect(now == model.value || now == model.wanted, "C\(number) at \(step)")
                clients[number] = nil
            }
        }
        faults.plan(nil)
        clients = []
        let observer = try server.connect()
        try eventually { try observer.stats("sessions") == "1" }
        #expect(try observer.status("get Load/Count/C0") == "ok")
    }

    /// The expected replies of one client.
    private struct Model {
        let number: Int
        var value: TweakValue?
        /// The requested value that is not confirmed yet.
        var wanted: TweakValue?
        /// Whether the server has accepted a command; until then errors are fatal.
        private var isProven = false

        init(number: Int, value: TweakValue?) { (self.number, self.value) = (number, value) }

        private var path: String { "Load/Count/C\(number)" }

        mutating func exchange(_ client: TestClient, _ step: Int, _ random: inout SeededGenerator) throws {
            /// Throws if the connection was refused for lack of descriptors.
            func ask(_ line: String) throws -> [String] {
                let lines = try client.ask(line)
                if lines.first?.hasPrefix("error too-many ") == true { throw ClientError.ended("") }
                return lines
            }
            switch random.next() % 4 {
            case 0:
                let lines = try ask("get \(path)")
                #expect(lines.first?.hasPrefix("\(path) = \(value?.text ?? "") ") == true, "\(lines)")
            case 1: _ = try ask("export")
            case 2:
                let lines = try ask("nonsense/\(step)")
                #expect(lines.last?.hasPrefix("error unknown-command") == true, "\(lines)")
                if !isProven { throw ClientError.ended("") }
            default:
                wanted = .int(Int64(step))
                let lines = try ask("\(path) = \(step)")
                #expect(lines.last?.hasPrefix("ok rev ") == true, "\(lines)")
                value = wanted
            }
            isProven = true
        }
    }
}
