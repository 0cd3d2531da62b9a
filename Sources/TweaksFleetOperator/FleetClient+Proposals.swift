// Implements the commands freeze, unfreeze, propose, approve and reject, and what status says of them.

import Tweaks
import TweaksFleet
import TweaksSystem

extension FleetClient {
    // MARK: freeze, unfreeze

    func freeze() async throws(FleetRefusal) {
        let seconds = try reading { () throws(Failure) in try arguments.seconds(.for, atLeast: 1) }
        let reason = try reading { () throws(Failure) -> String in
            guard let reason = arguments.value(.reason) else {
                throw Failure(.usage, "freeze: give the reason that refused operators read: --reason 'the launch'")
            }
            return reason
        }
        receipt("frozen", try await fleet.freeze(id, because: reason, seconds: seconds))
        if seconds == nil { console.output.printRemark("unfreeze \(id) ends it") }
    }

    func unfreeze() async throws(FleetRefusal) { receipt("no longer frozen", try await fleet.unfreeze(id)) }

    // MARK: propose, approve, reject

    func propose() async throws(FleetRefusal) {
        let texts = try reading { () throws(Failure) in try TextAssignment.all(arguments.words) }
        let parsed = try await parse(texts)
        if !arguments.has(.force) { try parsed.check() }
        let done = try await fleet.propose(parsed.assignments)
        receipt("proposal \(done.rollout ?? "")", done)
        if let id = done.rollout { console.output.printRemark("another operator applies it with approve \(id)") }
    }

    func approve() async throws(FleetRefusal) {
        receipt("approved proposal \(id)", try await fleet.approve(id, force: arguments.has(.force)))
    }

    func reject() async throws(FleetRefusal) { receipt("rejected proposal \(id)", try await fleet.reject(id)) }

    // MARK: status

    /// Prints the freezes and proposals.
    func showFreezesAndProposals() async throws(FleetRefusal) {
        for (name, freeze) in try await fleet.freezes() {
            let until = freeze?.until.map { ", until about \(TimeText.seconds($0))" } ?? ""
            let why = freeze.map { "\(until), \(FleetConsole.provenance($0.by, $0.at, now: now)): \($0.reason)" }
            console.print(["frozen: \(name)\(why ?? ", which cannot be read"); unfreeze \(name) ends it"])
        }
        for (id, proposal, author) in try await fleet.proposals() {
            guard let proposal else {
                console.print(["proposal \(id) cannot be read; reject \(id) removes it"])
                continue
            }
            let proof = author.map { "proved by \($0)" } ?? "unproved, so that it cannot be approved"
            console.print(["proposal \(id): \(FleetConsole.provenance(proposal.by, proposal.at, now: now)), \(proof)"])
            console.print(
                rows: proposal.changes.map {
                    .init(path: "  " + $0.path.token, value: $0.new.shown, note: "was \($0.old.shown)")
                })
        }
    }

    /// The freezes and proposals as JSON.
    func freezesAndProposals() async throws(FleetRefusal) -> [(String, JSON)] {
        let freezes = try await fleet.freezes().map { name, freeze in
            JSON.object([
                ("name", .string(name)), ("reason", .text(freeze?.reason)), ("by", .text(freeze?.by)),
                ("until", freeze?.until.map { .int($0) } ?? .null),
            ])
        }
        let proposals = try await fleet.proposals().map { id, proposal, author in
            JSON.object([
                ("id", .string(id)), ("by", .text(proposal?.by)), ("at", proposal.map { .int($0.at) } ?? .null),
                ("user", .text(author)), ("changes", .array((proposal?.changes ?? []).map(FleetConsole.json))),
            ])
        }
        return [("freezes", .array(freezes)), ("proposals", .array(proposals))]
    }
}
