// Tests which processes a rollout includes, with 100,000 processes.

import Testing

@testable import TweaksFleet

@Suite struct FleetHashTests {
    private static let count = 100_000
    /// In hundredths of a percent.
    private static let shares = [1, 10, 100, 500, 1_250, 2_500, 5_000, 7_500, 9_000, 9_900, 9_999]

    @Test(arguments: [
        ("", "", 0xB903_4AD3_7056_F5FB as UInt64), ("a", "b", 0xAB78_F5EC_A36D_0E2B),
        ("i1", "r-1", 0x761C_C108_154D_0BEE), ("api-7f9c.eu:1", "pool80", 0x815A_E9CD_F219_02B7),
        ("0123456789abcdef", "k7wq2m", 0xA2D4_98E5_3A34_788E),
    ])
    func `The hash has the values of an independent implementation`(
        _ instance: String, _ rollout: String, _ hash: UInt64
    ) { #expect(FleetHash.value(instance: instance, rollout: rollout) == hash) }

    @Test(arguments: [
        ("", 0xCBF2_9CE4_8422_2325 as UInt64), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8),
    ])
    func `FNV-1a has the published values`(_ text: String, _ hash: UInt64) {
        #expect(FleetHash.fnv(text.utf8) == hash)
    }

    /// Returns the number of instances in each hundredth of a percent.
    private func histogram(of rollout: String, _ name: (Int) -> String) -> [Int] {
        var counts = Array(repeating: 0, count: 10_000)
        for number in 0..<Self.count { counts[Int(FleetHash.position(instance: name(number), rollout: rollout))] += 1 }
        return counts
    }

    @Test func `The number of members is that of a fair draw, and over ten rollouts within 0.1 points`() {
        var sums = Array(repeating: 0.0, count: Self.shares.count)
        let rollouts = ["pool80", "k7wq2m", "a", "standing-rule-7", "r-1", "r-2", "r-3", "r-4", "aaaaaa", "aaaaab"]
        for rollout in rollouts {
            let histogram = histogram(of: rollout) { "api-\($0)" }
            for (index, share) in Self.shares.enumerated() {
                let part = Double(share) / 10_000
                let error = Double(histogram[..<share].reduce(0, +)) / Double(Self.count) - part
                sums[index] += error
                // The standard deviation of a fair draw, at 50 % 0.158 points.
                let deviation = (part * (1 - part) / Double(Self.count)).squareRoot()
                #expect(abs(error) < 4 * deviation, "\(rollout) at \(share): \(error * 100) points")
            }
        }
        for (share, sum) in zip(Self.shares, sums) {
            #expect(abs(sum / Double(rollouts.count)) < 0.001, "at \(share): \(sum * 10) points")
        }
    }

    @Test(arguments: [("r-1", "r-2"), ("aaaaaa", "aaaaab"), ("pool80", "k7wq2m"), ("a", "aa")])
    func `Memberships in two rollouts are independent`(_ first: String, _ second: String) {
        var table = Array(repeating: 0, count: 100)
        for number in 0..<Self.count {
            let name = "api-7f9c6d-\(number)"
            let row = FleetHash.position(instance: name, rollout: first) / 1_000
            let column = FleetHash.position(instance: name, rollout: second) / 1_000
            table[Int(row * 10 + column)] += 1
        }
        let expected = Double(Self.count) / 100
        let square = table.reduce(0.0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
        // Chi-square of 99 degrees of freedom: mean 99, standard deviation 14.
        #expect((43...155).contains(square), "\(square)")
    }

    @Test func `A growing share only adds members, from none to all`() throws {
        let instances = (0..<2_000).map { FleetInstance(id: "pod-\($0)") }
        var rollout = Rollout(id: "k7wq2m", changes: [], share: .none, by: "a", at: 0)
        var members = Set<String>()
        #expect(!instances.contains(where: rollout.includes))
        for hundredths in stride(from: 0, through: 10_000, by: 125) {
            rollout.share = try #require(Share(hundredths: hundredths))
            let now = Set(instances.filter(rollout.includes).map(\.id))
            #expect(now.isSuperset(of: members))
            members = now
        }
        #expect(members.count == instances.count)
    }

    @Test func `The hash of a member is below the share of 2⁶⁴, exactly`() throws {
        for number in 0..<2_000 {
            let hash = FleetHash.value(instance: "i\(number)", rollout: "r")
            for hundredths in [0, 1, 3_333, 5_000, 9_999, 10_000] {
                let share = try #require(Share(hundredths: hundredths))
                let isBelow = UInt128(hash) * 10_000 < UInt128(hundredths) << 64
                #expect(FleetHash.isBelow(share, instance: "i\(number)", rollout: "r") == isBelow)
            }
        }
    }

    @Test(arguments: [
        ([:], true), (["zone": "eu"], true), (["zone": "us"], false), (["zone": "eu", "tier": "1"], false),
        (["tier": ""], false), (["Zone": "eu"], false),
    ])
    func `A selector requires all of its labels`(_ selector: Labels, _ isMember: Bool) {
        var rollout = Rollout(id: "r", changes: [], share: .all, by: "a", at: 0)
        rollout.selector = selector
        #expect(rollout.includes(FleetInstance(id: "i", labels: ["zone": "eu", "version": "1.4"])) == isMember)
    }

    @Test func `The smallest share is the first that includes a selected process`() throws {
        var rollout = Rollout(id: "r", changes: [], share: .all, by: "a", at: 0)
        rollout.selector = ["zone": "eu"]
        for count in [1, 2, 10, 300] {
            let instances = (0..<count).flatMap { number in
                ["eu", "us"].map { FleetInstance(id: "\(count)-\(number)\($0)", labels: ["zone": $0]) }
            }
            let smallest = try #require(rollout.smallestShare(including: instances))
            rollout.share = smallest
            #expect(instances.contains(where: rollout.includes))
            rollout.share = try #require(Share(hundredths: smallest.hundredths - 1))
            #expect(!instances.contains(where: rollout.includes))
        }
        #expect(rollout.smallestShare(including: [FleetInstance(id: "a")]) == nil)
        #expect(rollout.smallestShare(including: []) == nil)
    }
}
