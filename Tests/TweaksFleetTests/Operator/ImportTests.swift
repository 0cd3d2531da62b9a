// Tests imports: parts, what is removed, the claim, interruptions, and the problems of a file.

import Synchronization
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

extension EtcdTransaction {
    /// Whether it writes a part of an import.
    fileprivate var hasManyPuts: Bool { success.count { if case .put = $0 { true } else { false } } > 50 }
}

@Suite struct ImportTests {
    private let harness = OperatorHarness()
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Lines of this many values.
    private func text(_ count: Int, _ value: Int = 1) -> String {
        (1...count).map { "A/B/C\($0) = \(value)\n" }.joined()
    }

    /// Imports a text as the file `api.conf`.
    private func load(
        _ text: String, _ options: String = "--new --yes", as fleet: FleetOperator? = nil
    ) async throws -> CommandResult {
        try directory.write(text, to: "api.conf")
        var result = try await harness.run("import \(directory.file("api.conf")) \(options)", as: fleet)
        result.lines = result.lines.map { $0.replacing(directory.path + "/", with: "") }
        return result
    }

    private func entries() async throws -> [FleetLogEntry] { try await harness.fleet().history().entries }

    private func values() async throws -> [String: String] {
        try await harness.fleet().readState().values.reduce(into: [:]) { $0[$1.key.joined] = $1.value.value.value.text }
    }

    // MARK: Parts

    @Test func `A file of 250 values is written in three parts, and only what differs is written again`() async throws {
        let first = try await load(text(250))
        #expect(first.code == .ok && first.text.contains("part 2 of 3: entry 2"), "\(first.text)")
        #expect(first.text.contains("import in 3 parts, entry 3"), "\(first.text)")
        #expect(first.text.contains("undo takes back one part at a time: entries 1 to 3"), "\(first.text)")
        #expect(try await entries().map(\.changes.count) == [100, 100, 50])
        #expect(try await values().count == 250 && harness.etcd.value(harness.keys.importClaim) == nil)

        #expect(try await harness.run("history").lines.contains { $0.hasPrefix("2 import (part 2 of 3) by alice") })
        let again = try await load(text(250))
        #expect(again.code == .ok && again.text.contains("there is nothing to change"), "\(again.text)")
        let changed = try await load(text(249) + "A/B/C250 = 7\n")
        #expect(changed.text.contains("1 changed:\n  A/B/C250 = 7  # was 1"), "\(changed.text)")
        #expect(try await entries().map(\.changes.count) == [100, 100, 50, 1])
        _ = try await harness.fleet().undo(1)
        #expect(try await values().count == 150)
    }

    @Test func `Values are divided by their size, too, and by that of the values that they replace`() async throws {
        let long = (1...10).map { "A/B/C\($0) = \(String(repeating: "x", count: 60_000))\n" }.joined()
        #expect(try await load(long).code == .ok)
        #expect(try await entries().map(\.changes.count) == [4, 4, 2])
        // The log has the old values, and a request has at most a mebibyte.
        let other = (1...40).map { "A/B/D\($0) = \(String(repeating: "y", count: 60_000))\n" }.joined()
        #expect(try await load(other).code == .ok)
        let short = try await load((1...40).map { "A/B/D\($0) = y\n" }.joined())
        #expect(short.code == .ok, "\(short.text)")
        #expect(try await values()["A/B/D40"]?.contains("y") == true)
    }

    @Test func `The receipt in JSON has all parts`() async throws {
        let json = try #require(try await load(text(150), "--new --yes --json").json)
        #expect(json["parts"]?.elements.map { $0["entry"]?.wholeNumber } == [1, 2])
        #expect(json["parts"]?.elements.map { $0["changes"]?.wholeNumber } == [100, 50])
        #expect(json["entry"]?.wholeNumber == 2 && json["changes"]?.elements.count == 150)
        #expect(json["isComplete"] == .bool(true) && json["planned"]?.wholeNumber == 2)
        let plan = try #require(try await load(text(1, 5), "--new --json --dry-run").json)
        #expect(plan["dryRun"] == .bool(true) && plan["lacking"]?.wholeNumber == 149)
        #expect(plan["changes"]?.elements.first?["new"]?.wholeNumber == 5)
        #expect(try await entries().count == 2)
    }

    // MARK: Removing

    @Test func `Without --prune nothing is removed, and with it what the file lacks`() async throws {
        _ = try await load("A/B/Old = 1\nA/B/Kept = 1\n")
        let kept = try await load("A/B/New = 2\nA/B/Kept = 1\n")
        #expect(kept.text.contains("lacks 1 value of the fleet; --prune removes"), "\(kept.text)")
        #expect(try await values() == ["A/B/Old": "1", "A/B/Kept": "1", "A/B/New": "2"])
        let shown = try await load("A/B/Kept = 3\nA/B/Other = 4\n", "--new --prune --dry-run")
        let difference = [
            "1 added:", "  A/B/Other = 4  # was (none)", "1 changed:", "  A/B/Kept = 3  # was 1", "2 removed:",
            "  A/B/New = (none)  # was 2", "  A/B/Old = (none)  # was 1",
        ]
        #expect(shown.text.contains(difference.joined(separator: "\n")), "\(shown.text)")
        #expect(try await entries().count == 2, "a dry run writes nothing")
        let unasked = try await load("A/B/Kept = 3\n", "--new --prune")
        #expect(unasked.code == .usage && unasked.text.contains("Write 3 changes of /tweaks/api?"), "\(unasked.text)")
        #expect(try await load("A/B/Kept = 3\n", "--new --prune --yes").code == .ok)
        #expect(try await values() == ["A/B/Kept": "3"])
    }

    @Test func `Prune keeps what cannot be read, and an incomplete export fails`() async throws {
        let path = try TweakPath("A/B/Newer")
        let record = #"{"kind":"matrix","value":[1],"by":"a","at":"2026-11-21T09:30:00Z"}"#
        harness.etcd.put(harness.keys.value(path), utf8(record))
        let result = try await load("A/B/Kept = 3\n", "--new --prune --yes")
        #expect(result.text.contains("1 value of the fleet cannot be read"), "\(result.text)")
        #expect(harness.etcd.value(harness.keys.value(path)) != nil)
        let export = try await harness.run("export")
        #expect(export.code == .refused && export.lines.first == "A/B/Kept = 3", "\(export.text)")
        #expect(export.text.contains("the export is incomplete"), "\(export.text)")
        #expect(try await harness.run("export A/B/Kept").code == .ok)
    }

    @Test func `A fleet never gets more keys than processes follow, also not for a moment`() async throws {
        let keys = harness.keys
        let pairs = try (0..<DesiredState.maxKeys).map { number in
            let record = DesiredValue(value: .int(1), by: "a", at: 0)
            return EtcdKeyValue(key: keys.value(try TweakPath("A/B/\(number)")), value: record.bytes, modRevision: 1)
        }
        let view = OperatorView(EtcdRangeResult(header: EtcdHeader(), keys: pairs), keys)
        let one = [try harness.assignment("A/B/New", .int(1)), try harness.assignment("A/B/7", .int(2))]
        let added = FleetImport(one, lines: [:])
        let problems = added.problems(of: added.difference(from: view), in: view)
        #expect(problems.map(\.line) == [0] && problems[0].text.contains("10001 values and rollouts"), "\(problems)")
        let full = MemoryEtcd()
        full.restore(pairs)
        let text = await refusal { try await harness.fleet(on: full).set(one) }
        #expect(text.hasPrefix("with 1 more the fleet has 10001 values and rollouts"), "\(text)")
        let pruning = FleetImport(one, lines: [:], prunes: true)
        let difference = pruning.difference(from: view)
        #expect(pruning.problems(of: difference, in: view).isEmpty)
        #expect(difference.all.first?.new == nil && difference.all.last?.path.joined == "A/B/New")
    }

    // MARK: Claims and interruptions

    private func parts(of count: Int) async throws -> (FleetImport, [[FleetLogEntry.Change]]) {
        let plan = FleetImport(try (1...count).map { try harness.assignment("A/B/C\($0)", .int(1)) }, lines: [:])
        let difference = plan.difference(from: try await harness.fleet().readState())
        return (plan, difference.parts(harness.keys, by: "alice"))
    }

    @Test func `Of two imports the second is refused with the name of the first; other writes are not`() async throws {
        let (plan, parts) = try await parts(of: 250)
        let refusals = Recorder<String>()
        let (harness, directory) = (harness, directory)
        try directory.write("A/B/X = 1\n", to: "other.conf")
        let (bob, path) = (harness.fleet(by: "bob"), try TweakPath("A/B/Y"))
        let etcd = InterposedEtcd(
            etcd: harness.etcd,
            beforeCommit: { transaction throws(EtcdError) in
                // Before the second part: the claim is the first transaction.
                guard transaction.hasManyPuts, harness.etcd.value(harness.keys.log(1)) != nil,
                    refusals.all.isEmpty
                else { return }
                let command = try? await harness.run("import \(directory.file("other.conf")) --new --yes", as: bob)
                refusals.note(command?.text ?? "")
                _ = try? await bob.set([FleetAssignment(path, .int(9))])
            })
        let receipt = try await harness.fleet(on: etcd).write(plan, parts, host: "ops-1", pid: 4_711)
        #expect(receipt.failure == nil && receipt.entries == [1, 3, 4])
        #expect(refusals.all.count == 1 && refusals.all[0].contains("one by alice (process 4711 on ops-1)"))
        let values = try await values()
        #expect(values["A/B/Y"] == "9" && values["A/B/X"] == nil && values.count == 251)
    }

    @Test func `A claim without a lease, which ends by itself never, can be deleted`() async throws {
        harness.etcd.put(harness.keys.importClaim, FleetDriver(host: "h", pid: 7, by: "bob", at: 0).bytes)
        let text = try await load("A/B/C = 1\n").lines.last
        let remedy = "of bob (process 7 on h) has no lease; if none is running, etcdctl del /tweaks/api/claims/import"
        #expect(text?.contains(remedy) == true, "\(text ?? "")")
    }

    @Test func `An import that is interrupted says what it wrote, and the next one goes on`() async throws {
        let (plan, parts) = try await parts(of: 250)
        let isStopped = Atomic(false)
        let receipt = try await harness.fleet().write(
            plan, parts, host: "h", pid: 1, shouldStop: { isStopped.load(ordering: .relaxed) }
        ) { _ in isStopped.store(true, ordering: .relaxed) }
        #expect(receipt.failure?.description == "import: interrupted" && receipt.entries == [1])
        #expect(harness.etcd.value(harness.keys.importClaim) == nil, "the claim is released")
        let rest = try await load(text(250))
        #expect(rest.code == .ok && rest.text.contains("150 added:"), "\(rest.text)")
        #expect(try await entries().map(\.changes.count) == [100, 100, 50])
    }

    @Test func `An import that fails says how far it came, with the exit code of the failure`() async throws {
        let written = Atomic(0)
        let etcd = InterposedEtcd(
            etcd: harness.etcd,
            beforeCommit: { transaction throws(EtcdError) in
                guard transaction.hasManyPuts else { return }
                if written.wrappingAdd(1, ordering: .relaxed).newValue > 1 { throw .unreachable("no answer") }
            })
        let result = try await load(text(250), as: harness.fleet(on: etcd))
        #expect(result.code == .unreachable, "\(result.text)")
        #expect(result.lines.last?.contains("1 of 3 parts are written, to entry 1; import the file again") == true)
        #expect(result.text.contains("import, entry 1"), "\(result.text)")
    }

    @Test func `A rollout that begins meanwhile is named with the line, and status names the import`() async throws {
        let harness = harness
        let plan = try harness.plan("A/B/C150", .int(80))
        let statuses = Recorder<String>()
        let etcd = InterposedEtcd(
            etcd: harness.etcd,
            beforeCommit: { transaction throws(EtcdError) in
                guard transaction.hasManyPuts, statuses.all.isEmpty else { return }
                statuses.note((try? await harness.run("status"))?.text ?? "")
                _ = try? await harness.fleet(by: "bob").begin(plan)
            })
        let result = try await load(text(250), as: harness.fleet(on: etcd))
        #expect(statuses.all.first?.contains("an import by alice is being written: process ") == true)
        let start = "line 150: A/B/C150: rollout r1 by bob holds it at 100 %"
        #expect(result.lines.last?.hasPrefix(start) == true, "\(result.text)")
        #expect(result.lines.last?.contains("1 of 3 parts are written, to entry 2") == true, "\(result.text)")
        let pruned = try await load("A/B/C1 = 1\n", "--new --prune --yes")
        #expect(pruned.code == .ok, "the fleet has no value of the path")
    }

    @Test func `What an open rollout holds cannot be pruned`() async throws {
        try harness.put("A/B/Held", .int(1))
        _ = try await harness.fleet().begin(harness.plan("A/B/Held", .int(80)))
        let result = try await load("A/B/C = 1\n", "--new --prune --yes")
        #expect(result.lines.last?.hasPrefix("api.conf: A/B/Held: rollout r1 by alice holds it at 100 %") == true)
        #expect(result.lines.last?.hasSuffix("finish r1 or abort r1 first, or leave out --prune") == true)
        #expect(try await values() == ["A/B/Held": "1"])
    }

    @Test func `An import without its claim writes no more`() async throws {
        let (plan, parts) = try await parts(of: 250)
        let harness = harness
        let receipt = try await harness.fleet().write(plan, parts, host: "h", pid: 1, shouldStop: { false }) { _ in
            harness.etcd.delete(.key(harness.keys.importClaim))
        }
        #expect(receipt.entries == [1] && receipt.failure?.description.contains("its lease of 60 s has ended") == true)
        #expect(try await values().count == 100)
    }

    // MARK: Problems

    @Test func `All problems of a file are listed with their lines, and nothing is written`() async throws {
        let registry = TweakRegistry()
        _ = Tweak("A", "B", "Count", 5, in: 0...10, registry: registry)
        _ = Tweak("A", "B", "Held", 5, registry: registry)
        _ = Tweak("A", "B", "Free", 5, registry: registry)
        let build = FleetBuild(registry)
        harness.etcd.put(harness.keys.build(build.hash), build.bytes)
        harness.register("i1", build: build.hash)
        _ = try await harness.fleet().begin(harness.plan("A/B/Held", .int(80)))
        let text = """
            # a comment
            A/B/Count = 50
            A/B/Held = 7
            A/B/Unknown = 1
            nonsense here
            A/B/Held = 8
            A/B/Free = much
            """
        let result = try await load(text, "--yes")
        #expect(result.code == .refused)
        let starts = [
            "api.conf:2: build \(build.hash), 1 process, refuses it: A/B/Count: 50 is outside 0...10",
            "api.conf:3: A/B/Held: rollout r1 by alice holds it at 100 %", "api.conf:4: A/B/Unknown: no build has it",
            "api.conf:5: ", "api.conf:6: A/B/Held is in line 3, too", "api.conf:7: A/B/Free: “much” is not an int",
            "api.conf: 6 problems; nothing is written",
        ]
        let lines = result.lines.map { $0.replacing("tweakctl-fleet: ", with: "") }
        #expect(lines.count == starts.count, "\(result.text)")
        for (line, start) in zip(lines, starts) { #expect(line.hasPrefix(start), "\(line)\n\(start)") }
        #expect(try await values().isEmpty)
    }

    @Test func `What the fleet has already is no problem, whatever builds say`() async throws {
        let registry = TweakRegistry()
        _ = Tweak("A", "B", "Count", 5, in: 0...10, registry: registry)
        let build = FleetBuild(registry)
        harness.etcd.put(harness.keys.build(build.hash), build.bytes)
        try harness.put("A/B/Count", .int(50))
        try harness.put("A/B/Unknown", .string("x y"))
        _ = try await harness.fleet().begin(harness.plan("A/B/Unknown", .string("z")))
        let result = try await load("A/B/Count = 50\nA/B/Unknown = \"x y\"\n", "--prune")
        #expect(result.code == .ok && result.text.contains("there is nothing to change"), "\(result.text)")
    }

    @Test func `The first 20 of many problems are listed, and one alone is the error`() async throws {
        let many = try await load((1...30).map { "nonsense \($0)\n" }.joined())
        #expect(many.lines.count == 21 && many.lines.last?.contains("30 problems, of which 20 are listed") == true)
        let one = try await load("A/B/C = 1\nA/B = 2\n")
        #expect(one.lines.count == 1 && one.lines[0].hasPrefix("api.conf:2: "), "\(one.text)")
        #expect(try await load("# nothing\n").lines == ["api.conf: there are no lines PATH = VALUE in it"])
        let long = try await load("A/B/C = \(String(repeating: "x", count: 65_400))\n")
        #expect(long.lines.last?.hasPrefix("api.conf:1: A/B/C: the value is too long") == true, "\(long.text)")
        let file = try await load(text(10_001))
        #expect(file.lines == ["api.conf: 10001 values are more than the 10000 of a fleet; remove some"])
    }
}
