// Tests that what operators are told to do repairs a fleet, and loses nothing.

import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.prompt) struct AdviceTests {
    private let harness = OperatorHarness()
    private let time = ManualClock(wall: 1_700_000_000_000)
    private var keys: FleetKeys { harness.keys }

    private func set(_ value: Double, by fleet: FleetOperator? = nil) async throws {
        _ = try await (fleet ?? harness.fleet()).set([try harness.assignment("A/B/Size", .number(value))])
    }

    /// A head that is JSON, and that no log key can have.
    private static let highHead = FleetHead(counter: .max, by: "etcdctl", what: "put", at: 0).bytes

    @Test func `Each unreadable key has a remedy that keeps the last good values`() async throws {
        let path = try TweakPath("A/B/C d")
        let cases: [([UInt8], String)] = [
            (keys.head, "adopt writes a new one"), (keys.value(path), "set \"A/B/C d\" = VALUE writes it anew"),
            (keys.rollout("r1"), "abort r1 deletes it"), (utf8("/tweaks/api/desired/x"), "ask whose it is"),
            (keys.instance("i1", start: 1), "changes no value"), (keys.build("00"), "write it with their next status"),
            (keys.driver("r1"), "no driver can begin"),
        ]
        for (key, _) in cases { harness.etcd.put(key, utf8("garbage")) }
        let status = try await harness.run("status")
        for (key, text) in cases {
            let name = String(decoding: key, as: UTF8.self)
            let line = try #require(status.lines.first { $0.contains("\(name): ") }, "\(name)")
            #expect(line.contains(text), "\(line)")
        }
        for key in [keys.head, keys.value(path)] {
            let line = status.lines.first { $0.contains("\(String(decoding: key, as: UTF8.self)): ") }
            #expect(line?.contains("etcdctl del") == false, "\(line ?? "")")
        }
        harness.etcd.put(keys.log(7), utf8("garbage"))
        #expect(try await harness.run("history").text.contains("this line of the history is lost"))
        let garbage = try await harness.run("status --json").json?["garbage"]?.elements
        #expect(garbage?.count == cases.count && garbage?.allSatisfy { $0["remedy"] != nil } == true)
    }

    @Test func `The remedy of an unreadable value, and of one under a lease, is to set it`() async throws {
        let path = try TweakPath("A/B/Size")
        harness.etcd.put(keys.value(path), utf8("garbage"))
        try await set(60)
        #expect(try await harness.fleet().readState().unreadable.isEmpty)
        let lease = try await harness.etcd.grantLease(seconds: 60)
        try harness.put("A/B/Size", .number(61), lease: lease.id)
        let line = try await harness.run("ls").lines.last
        #expect(line?.contains("will be gone with it; unless") == true, "\(line ?? "")")
    }

    @Test(arguments: [utf8("garbage"), highHead])
    func `An unreadable head is adopted, above what processes and the log know`(_ head: [UInt8]) async throws {
        try await set(60)
        let process = try FollowingProcess(harness.etcd, keys, time: time)
        process.start()
        await process.wait(process.size, 60)
        // As an operator with etcdctl does; the process applies the value, and ignores the head.
        harness.etcd.put(keys.head, head)
        try harness.put("A/B/Size", .number(70))
        await process.wait(process.size, 70)
        let refused = await refusal { try await set(80) }
        #expect(refused.contains("its head cannot be read") && refused.contains("adopt writes a new one"), "\(refused)")
        let adopted = try await harness.run("adopt --yes")
        #expect(adopted.code == .ok, "\(adopted.text)")
        #expect(try await harness.fleet().readState().head?.value.counter == 2)
        try await set(80)
        try await time.pass { await process.wait(process.size, 80) }
        await process.stop()
    }

    @Test func `An emptied store is filled by an import before it is adopted, and processes lose nothing`() async throws
    {
        try await set(60)
        let process = try FollowingProcess(harness.etcd, keys, time: time)
        let sizes = Recorder<Double>()
        let observation = process.size.observe { sizes.note($0.new) }
        process.start()
        await process.wait(process.size, 60)
        let directory = try TemporaryDirectory()
        try directory.write(try await harness.run("export").lines.map { $0 + "\n" }.joined(), to: "api.conf")
        harness.etcd.delete(.prefix(keys.all))
        try await time.pass { await process.log.wait(for: "tweakctl fleet api adopt") }
        let dry = try await harness.run("adopt --dry-run").text
        #expect(dry.contains("there are no values here; to keep those of the processes, import them first"), "\(dry)")
        #expect(!dry.contains("now apply"), "\(dry)")
        #expect(try await harness.run("import \(directory.file("api.conf")) --new --yes").code == .ok)
        #expect(try await harness.run("adopt --yes").code == .ok)
        try await set(80)
        try await time.pass { await process.wait(process.size, 80) }
        #expect(sizes.all == [60, 80])
        withExtendedLifetime(observation) {}
        await process.stop()
    }

    @Test func `Without live processes the log tells how far the counter was`() async throws {
        for value in 1...5 { try await set(Double(value)) }
        harness.etcd.put(keys.head, utf8("garbage"))
        _ = try await harness.fleet().adopt()
        #expect(try await harness.fleet().readState().head?.value.counter == 6)
    }

    @Test func `A status that no process can have does not use up the counter`() async throws {
        try await set(60)
        for (number, head) in [UInt64.max, FleetHead.maxCounter, 41].enumerated() {
            harness.register("i\(number)") { $0.head = head }
        }
        let notes = try await harness.fleet().adopt().notes
        #expect(try await harness.fleet().readState().head?.value.counter == 42)
        #expect(notes.count == 2 && notes[0].hasPrefix("i0 reports write 18446744073709551615"), "\(notes)")
    }

    @Test func `At the end of the counter the advice is another prefix, and export and import work`() async throws {
        try await set(60)
        harness.etcd.put(
            keys.head, FleetHead(counter: FleetHead.maxCounter, by: "etcdctl", what: "put", at: 0).bytes)
        for text in [
            await refusal { try await set(70) }, await refusal { try await harness.fleet().adopt() },
        ] { #expect(text.contains("export the values, and import them under another --prefix"), "\(text)") }
        let directory = try TemporaryDirectory()
        try directory.write(try await harness.run("export").lines.map { $0 + "\n" }.joined(), to: "api.conf")
        let other = FleetKeys(prefix: "/other", name: "api")
        let fleet = FleetOperator(harness.etcd, other, by: "alice", now: { 0 })
        let result = try await harness.run("import \(directory.file("api.conf")) --new --yes", as: fleet)
        #expect(result.code == .ok, "\(result.text)")
        #expect(harness.etcd.value(other.value(try TweakPath("A/B/Size"))) != nil)
    }

    @Test func `The largest number to adopt leaves room for writes`() async throws {
        let line = "adopt --yes --at-least"
        #expect(try await harness.run("\(line) \(FleetOperator.highestAdopted + 1)").code == .usage)
        #expect(try await harness.run("\(line) \(FleetOperator.highestAdopted)").code == .ok)
        try await set(60)
        #expect(try await harness.fleet().readState().head?.value.counter == FleetOperator.highestAdopted + 1)
        _ = try await harness.fleet().adopt()
        #expect(try await harness.fleet().readState().head?.value.counter == FleetOperator.highestAdopted + 2)
    }

    @Test func `A full etcd is the first line of the status, with the remedy`() async throws {
        harness.etcd.setFaults { $0.isFull = true }
        let lines = try await harness.run("status").lines
        #expect(lines[0].contains("NOSPACE") && lines[0].contains("etcdctl alarm disarm"), "\(lines)")
        let json = try await harness.run("status --json").json
        #expect(json?["etcd"]?["alarms"]?.elements == [.string("NOSPACE")])
    }
}
