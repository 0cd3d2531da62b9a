// Divides the processes of a rollout into strata by a label, and computes the last member of each.

import Tweaks
import TweaksStorage

/// The position of a process in its stratum. As a cutoff it is that of the last member: a process is a member if its own
/// position is not behind it.
package struct StratumPosition: Hashable, Comparable, Sendable {
    /// The value of the label; nil without the label, which is a stratum of its own.
    package var stratum: String?
    package var hash: UInt64
    /// Decides between equal hashes.
    package var id: String

    package init(stratum: String?, hash: UInt64, id: String) {
        self.stratum = stratum
        self.hash = hash
        self.id = id
    }

    /// Positions of one stratum are in the order of the hash, then of the ID's bytes.
    package static func < (left: StratumPosition, right: StratumPosition) -> Bool {
        (left.hash, left.id) < (right.hash, right.id)
    }
}

extension StratumPosition {
    init(_ fields: FleetFields) throws(FleetProblem) {
        let stratum = try fields.optionalText("stratum")
        guard stratum.map(Labels.isWord) ?? true else { throw FleetProblem("“stratum” is not the value of a label") }
        let digits = try fields.text("hash")
        // Of a number, JSON would keep only 53 bits.
        guard digits.utf8.count == 16, !"+-".contains(digits.prefix(1)), let hash = UInt64(digits, radix: 16)
        else {
            throw FleetProblem("“hash” is not a text of 16 hexadecimal digits")
        }
        let id = try fields.text("id")
        guard FleetInstance.isID(id) else { throw FleetProblem("“id” is not that of a process") }
        self.init(stratum: stratum, hash: hash, id: id)
    }

    var json: JSON {
        var fields: [(String, JSON)] = []
        fields.add("stratum", stratum.map { .string($0) })
        return .object(fields + [("hash", .string(String(hash, radix: 16).padded(to: 16))), ("id", .string(id))])
    }
}

extension Rollout {
    /// The maximum number of strata.
    package static let maxStrata = 64

    /// The edition that a process must know to find out whether it is a member. A rollout that has reached all is plain.
    package var edition: Int64 {
        (seed == nil && canary.isEmpty && per == nil) || share == .all ? 1 : FleetStatus.strataEdition
    }

    /// The position of an instance in its stratum.
    package func position(of instance: FleetInstance) -> StratumPosition {
        StratumPosition(
            stratum: per.flatMap { instance.labels[$0] },
            hash: FleetHash.value(instance: instance.id, rollout: seed ?? id), id: instance.id)
    }

    /// Whether the position is not behind the cutoff of its stratum. A stratum without a cutoff has no members.
    func includes(_ position: StratumPosition) -> Bool {
        cutoffs.first { $0.stratum == position.stratum }.map { position <= $0 } ?? false
    }

    /// Moves the cutoffs, so that the share of each stratum is included, rounded up to whole processes. They never move
    /// back: a member stays one when others have left.
    /// - Parameter positions: Those of the live processes with stable IDs that the selector matches.
    package mutating func moveCutoffs(over positions: [StratumPosition]) {
        // At the end all are members.
        if per == nil || share == .all { return }
        var last: [String?: StratumPosition] = Dictionary(cutoffs.map { ($0.stratum, $0) }) { max($0, $1) }
        for (stratum, positions) in Dictionary(grouping: positions, by: \.stratum) {
            let count = share.count(of: positions.count)
            if count == 0 { continue }
            let cutoff = positions.sorted()[count - 1]
            last[stratum] = last[stratum].map { max($0, cutoff) } ?? cutoff
        }
        // A stratum without a label comes first.
        cutoffs = last.values.sorted { ($0.stratum ?? "") < ($1.stratum ?? "") }
    }

    /// Reads the fields that older editions do not know.
    mutating func readStrata(_ fields: FleetFields) throws(FleetProblem) {
        seed = try fields.optionalText("seed")
        guard seed.map(FleetInstance.isID) ?? true else { throw FleetProblem("“seed” is not \(Self.seedLetters)") }
        canary = try Labels(try fields.members("canary"))
        per = try fields.optionalText("per")
        guard per.map(Labels.isWord) ?? true else { throw FleetProblem("“per” is not the name of a label") }
        if per != nil {
            for element in try fields.elements("cutoffs", max: Self.maxStrata) {
                cutoffs.append(try StratumPosition(element))
            }
            guard Set(cutoffs.map { $0.stratum ?? "" }).count == cutoffs.count else {
                throw FleetProblem("“cutoffs” has a stratum twice")
            }
        }
        if edition == 1 { return }
        // What older processes read decides what they do, so it must be that they are no members.
        guard share == .none else { throw FleetProblem("“percent” is not 0 beside “seed”, “canary” or “per”") }
        share = try Share(fields.json["share"], "share")
    }

    package static let seedLetters = "letters, digits, “.”, “_”, “-” and “:”, at most 63"

    /// The fields that older editions do not know.
    var strataFields: [(String, JSON)] {
        var fields: [(String, JSON)] = []
        fields.add("seed", seed.map { .string($0) })
        if !canary.isEmpty { fields.add("canary", canary.json) }
        fields.add("per", per.map { .string($0) })
        if per != nil, !cutoffs.isEmpty { fields.add("cutoffs", .array(cutoffs.map(\.json))) }
        return fields
    }
}
