// Defines shares of a fleet, and decides which processes they include: a stable set that only grows with the share.

import Tweaks

/// A share in hundredths of a percent, 0…10,000; `12.5` in JSON and on the command line.
package struct Share: Hashable, Comparable, Sendable {
    package let hundredths: Int

    /// Returns nil outside 0…10,000.
    package init?(hundredths: Int) {
        guard (0...10_000).contains(hundredths) else { return nil }
        self.hundredths = hundredths
    }

    private init(_ hundredths: Int) { self.hundredths = hundredths }

    package static let none = Share(0)
    package static let all = Share(10_000)

    package static func < (left: Share, right: Share) -> Bool { left.hundredths < right.hundredths }
}

extension Share {
    /// Parses a percentage with at most two decimal places: `1`, `12.5`, `0.01`; a percent sign may follow.
    package init?(percent text: String) {
        let parts = text.utf8.last == UInt8(ascii: "%") ? text.dropLast() : Substring(text)
        let numbers = parts.split(separator: ".", omittingEmptySubsequences: false)
        let isDigits = { (part: Substring) in
            (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
        }
        guard let first = numbers.first, isDigits(first), let whole = Int(first), numbers.count <= 2 else { return nil }
        var hundredths = whole * 100
        if numbers.count == 2 {
            guard isDigits(numbers[1]), numbers[1].count <= 2, let digits = Int(numbers[1]) else { return nil }
            hundredths += numbers[1].count == 1 ? digits * 10 : digits
        }
        self.init(hundredths: hundredths)
    }

    /// The percentage without a percent sign.
    package var number: String {
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        if rest == 0 { return "\(whole)" }
        return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(String(rest).padded(to: 2))"
    }

    /// The number of processes that this share of some is, rounded up.
    package func count(of size: Int) -> Int {
        let (whole, rest) = (size / 10_000, size % 10_000)
        return whole * hundredths + (rest * hundredths + 9_999) / 10_000
    }

    /// `12.5 %`
    package var text: String { "\(number) %" }

    init(_ json: JSON?, _ name: String) throws(FleetProblem) {
        let text: String? =
            switch json {
            case .literal(let text)?, .string(let text)?: text
            default: nil
            }
        guard let share = text.flatMap({ Share(percent: $0) }) else {
            throw FleetProblem("“\(name)” is not a percentage of 0…100 with at most two digits behind the point")
        }
        self = share
    }

    var json: JSON { .literal(number) }
}

/// The hash of an instance and a rollout, which any language computes in ten lines:
///
///     hash = 0xcbf29ce484222325                     FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
///     for byte in instance, 0x00, rollout:          the ID of the rollout, or its seed
///         hash = (hash ^ byte) * 0x100000001b3      unsigned 64-bit arithmetic
///     hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd
///     hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53
///     hash = hash ^ hash >> 33                      MurmurHash3's fmix64: https://github.com/aappleby/smhasher
///
/// An instance is included if `hash * 10000 / 2^64`, rounded down, is below the share in hundredths of a percent.
package enum FleetHash {
    /// Shares depend on the high bits, which FNV distributes poorly; the finalizer mixes them.
    package static func value(instance: String, rollout: String) -> UInt64 {
        mixed(fnv(rollout.utf8, after: fnv([0], after: fnv(instance.utf8))))
    }

    /// FNV-1a over 64 bits.
    /// - Parameter before: The hash of the preceding bytes.
    package static func fnv(_ bytes: some Sequence<UInt8>, after before: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        var hash = before
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }

    /// The finalizer `fmix64` of MurmurHash3.
    private static func mixed(_ hash: UInt64) -> UInt64 {
        var hash = hash
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }

    /// Whether the hash is below a share of 2⁶⁴: exactly, hash / 2⁶⁴ < share / 10,000.
    package static func isBelow(_ share: Share, instance: String, rollout: String) -> Bool {
        position(instance: instance, rollout: rollout) < UInt64(share.hundredths)
    }

    /// The hash in hundredths of a percent of its range, 0…9,999.
    static func position(instance: String, rollout: String) -> UInt64 {
        value(instance: instance, rollout: rollout).multipliedFullWidth(by: 10_000).high
    }
}

extension Rollout {
    /// Whether the rollout includes an instance: its labels match, and it is a canary, or its hash is below the share or
    /// not above the cutoff of its stratum. A process of an older version reads 0 % before all are members.
    package func includes(_ instance: FleetInstance) -> Bool {
        if !selects(instance) || instance.edition < edition { return false }
        if isCanary(instance) || share == .all { return true }
        if per != nil { return includes(position(of: instance)) }
        return FleetHash.isBelow(share, instance: instance.id, rollout: seed ?? id)
    }

    /// Whether an instance has all labels of the selector; a missing label does not match.
    package func selects(_ instance: FleetInstance) -> Bool { instance.has(selector) }

    /// Whether an instance that the selector matches is a member at any share.
    package func isCanary(_ instance: FleetInstance) -> Bool { !canary.isEmpty && instance.has(canary) }

    /// The smallest share that includes one of these instances; nil if the selector matches none.
    package func smallestShare(including instances: some Sequence<FleetInstance>) -> Share? {
        // Of each stratum the smallest share includes one.
        if per != nil { return instances.contains(where: selects) ? Share(hundredths: 1) : nil }
        let positions = instances.lazy.filter(selects).map { FleetHash.position(instance: $0.id, rollout: seed ?? id) }
        return positions.min().flatMap { Share(hundredths: Int($0) + 1) }
    }
}
