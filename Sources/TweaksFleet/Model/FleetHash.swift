// Decides which processes a rollout includes: the same ones each time, and more of them as its share grows.

import Tweaks

/// The hash of an instance and a rollout.
package enum FleetHash {
    /// FNV-1a over 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/) of the instance's ID, a zero byte and the
    /// rollout's, mixed by the finalizer of MurmurHash3 (https://github.com/aappleby/smhasher): FNV's high bits, which
    /// shares are cut from, are not spread well by themselves.
    package static func value(instance: String, rollout: String) -> UInt64 {
        mixed(fnv(Array(instance.utf8) + [0] + Array(rollout.utf8)))
    }

    /// FNV-1a over 64 bits.
    package static func fnv(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    /// The finalizer `fmix64` of MurmurHash3.
    private static func mixed(_ hash: UInt64) -> UInt64 {
        var hash = hash
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }

    /// Whether the hash is below a share of 2⁶⁴.
    package static func isBelow(_ share: Share, instance: String, rollout: String) -> Bool {
        if share == .all { return true }
        // Exact: hash / 2⁶⁴ < share / 10,000.
        let product = value(instance: instance, rollout: rollout).multipliedFullWidth(by: 10_000)
        return product.high < UInt64(share.hundredths)
    }
}

extension Rollout {
    /// Whether an instance takes part: its labels match, and its hash is below the share.
    package func includes(_ instance: FleetInstance) -> Bool {
        selector.allSatisfy { instance.labels[$0.key] == $0.value }
            && FleetHash.isBelow(share, instance: instance.id, rollout: id)
    }
}
