// Fuzzes a server with two sessions: an owner with all permissions, and a guest with some.

import Tweaks
import TweaksServer

/// The bytes of both sessions. The first byte selects the guest's role; the rest is sent alternately by guest and
/// owner, in pieces separated by U+001E.
enum SessionTarget {
    private static let separator: UInt8 = 0x1E

    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let role = GuestRole.all[Int(choice) % GuestRole.all.count]
        let harness = try SessionHarness(role)
        let pieces = bytes.dropFirst().split(separator: separator, omittingEmptySubsequences: false)
        for (position, piece) in pieces.enumerated() {
            if position.isMultiple(of: 2) { try harness.sendAsGuest(piece) } else { try harness.sendAsOwner(piece) }
        }
        try harness.end()
    }
}

/// The permissions of a guest, stated independently of the product's implementation, which is under test.
struct GuestRole {
    let scopes: [TweakScope]
    /// The prefixes of the paths that it may change.
    let changes: [String]
    /// Whether it may run the action.
    let runs: Bool
    /// Whether it may see the vault.
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
