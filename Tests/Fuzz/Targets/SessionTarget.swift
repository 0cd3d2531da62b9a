// Two sessions of a server with a live registry: one that may do everything, and a guest who may not.

import Tweaks
import TweaksServer

/// The bytes of both sessions. The first byte chooses what the guest may do; the rest is what they send: the guest, the
/// owner, the guest again…, each piece ended by U+001E.
enum SessionTarget {
    private static let separator: UInt8 = 0x1E

    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let role = GuestRole.all[Int(choice) % GuestRole.all.count]
        let bench = try SessionBench(role)
        let pieces = bytes.dropFirst().split(separator: separator, omittingEmptySubsequences: false)
        for (position, piece) in pieces.enumerated() {
            if position.isMultiple(of: 2) {
                try bench.guestSends(piece)
            } else {
                try bench.ownerSends(piece)
            }
        }
        try bench.end()
    }
}

/// What a guest may do, in words of its own: the product's idea of it is what is tested.
struct GuestRole {
    let scopes: [TweakScope]
    /// What it may change: paths that begin so.
    let changes: [String]
    /// Whether it may run the action.
    let runs: Bool
    /// Whether it may know of the vault.
    let seesVault: Bool

    static let all: [GuestRole] = [
        GuestRole(scopes: [.read], changes: [], runs: false, seesVault: true),
        GuestRole(scopes: ["read:Sample"], changes: [], runs: false, seesVault: false),
        GuestRole(scopes: ["write:Sample/Free"], changes: ["Sample/Free/"], runs: false, seesVault: false),
        GuestRole(scopes: ["read:Sample", "write:Sample/*/int"], changes: Self.ints, runs: false, seesVault: false),
        GuestRole(scopes: ["run:Player"], changes: [], runs: true, seesVault: false),
        GuestRole(scopes: [], changes: [], runs: false, seesVault: false),
        GuestRole(scopes: ["read", "admin:Sample/Bound"], changes: ["Sample/Bound/"], runs: false, seesVault: true),
        GuestRole(scopes: [.admin], changes: [""], runs: true, seesVault: true),
    ]

    private static let ints = ["Sample/Free/int", "Sample/Bound/int"]

    func mayChange(_ path: TweakPath) -> Bool { changes.contains { path.joined.hasPrefix($0) } }
}
