// From a call site to its tweak in a few nanoseconds, without a lock.

import Synchronization

/// What makes two calls the same call: the addresses of their literals, their place in the source, and the type.
///
/// Literals live as long as the program, so their addresses are names. The place is part of the key so that two
/// declarations of one path both register, and can be found to disagree.
@frozen
@usableFromInline
struct CallSiteKey: Sendable {
    @usableFromInline let category: UInt
    @usableFromInline let collection: UInt
    @usableFromInline let name: UInt
    @usableFromInline let file: UInt
    @usableFromInline let line: UInt
    @usableFromInline let type: ObjectIdentifier

    // In line, so that at a call site all of it is constant.
    /// Nil for a literal that has no address.
    @inlinable
    init?(
        _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ source: TweakSource,
        _ type: ObjectIdentifier
    ) {
        guard category.hasPointerRepresentation, collection.hasPointerRepresentation, name.hasPointerRepresentation,
            source.fileID.hasPointerRepresentation
        else { return nil }
        self.category = UInt(bitPattern: category.utf8Start)
        self.collection = UInt(bitPattern: collection.utf8Start)
        self.name = UInt(bitPattern: name.utf8Start)
        file = UInt(bitPattern: source.fileID.utf8Start)
        line = source.line
        self.type = type
    }

    fileprivate var hash: Int {
        // Addresses differ in their middle bits; one multiplication spreads them upwards.
        let mixed = (name &+ collection &* 3 &+ category &* 5 &+ line &* 31) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 32)
    }

    fileprivate static func == (left: CallSiteKey, right: CallSiteKey) -> Bool {
        left.name == right.name && left.line == right.line && left.collection == right.collection
            && left.category == right.category && left.file == right.file && left.type == right.type
    }
}

/// One call site that was met. Entries live as long as their table, so that readers need no lock and no retain.
@usableFromInline
final class CallSite: @unchecked Sendable {  // Unchecked for the pointer alone: it is set once, to what `owned` keeps.
    fileprivate let key: CallSiteKey
    @usableFromInline let node: TweakNode
    private let owned: any AnyObject & Sendable
    /// The typed cell, without the retain that a read would pay for twice; its type is part of the key.
    @usableFromInline let cell: UnsafeRawPointer

    init(key: CallSiteKey, node: TweakNode, cell: any AnyObject & Sendable) {
        self.key = key
        self.node = node
        owned = cell
        self.cell = UnsafeRawPointer(Unmanaged.passUnretained(cell).toOpaque())
    }
}

/// A hash table that is read without a lock and written under one.
@usableFromInline
final class CallSiteTable: Sendable {
    /// One generation of slots; each is 0, or the address of a `CallSite`.
    // No class: a reader would pay for a retain and a release of it.
    private struct Slots: @unchecked Sendable {  // Unchecked: what the pointer leads to is only touched atomically.
        let mask: Int
        let base: UnsafeMutablePointer<Atomic<UInt>>

        init(count: Int) {
            mask = count - 1
            base = .allocate(capacity: count)
            for position in 0..<count { (base + position).initialize(to: Atomic(0)) }
        }

        func deallocate() {
            base.deinitialize(count: mask + 1)
            base.deallocate()
        }
    }

    /// Everything that a reader may still look at; released with the table.
    private struct Owned: @unchecked Sendable {  // Unchecked: the pointers are freed by the table's deinit alone.
        var generations: [UnsafeMutablePointer<Slots>]
        var sites: [CallSite] = []
        var live: [CallSite] = []
    }

    private let current: Atomic<UInt>
    private let owned: Mutex<Owned>

    init() {
        let first = Self.makeSlots(count: 64)
        current = Atomic(UInt(bitPattern: first))
        owned = Mutex(Owned(generations: [first]))
    }

    deinit {
        owned.withLock { owned in
            for generation in owned.generations {
                generation.pointee.deallocate()
                generation.deinitialize(count: 1)
                generation.deallocate()
            }
        }
    }

    private static func makeSlots(count: Int) -> UnsafeMutablePointer<Slots> {
        let slots = UnsafeMutablePointer<Slots>.allocate(capacity: 1)
        slots.initialize(to: Slots(count: count))
        return slots
    }

    /// The tweak of a call site that was met before. The result is valid as long as the table.
    @usableFromInline
    func find(_ key: CallSiteKey) -> Unmanaged<CallSite>? {
        guard let slots = UnsafePointer<Slots>(bitPattern: current.load(ordering: .acquiring))?.pointee else {
            return nil
        }
        var position = key.hash & slots.mask
        while true {
            let address = slots.base[position].load(ordering: .acquiring)
            guard let opaque = UnsafeRawPointer(bitPattern: address) else { return nil }
            let site = Unmanaged<CallSite>.fromOpaque(opaque)
            if site._withUnsafeGuaranteedRef({ $0.key == key }) { return site }
            position = (position &+ 1) & slots.mask
        }
    }

    /// Remembers a call site.
    func insert(_ site: CallSite) {
        owned.withLock { owned in
            if owned.live.contains(where: { $0.key == site.key }) { return }
            owned.sites.append(site)
            owned.live.append(site)
            publish(&owned)
        }
    }

    /// Forgets the call sites of a tweak that was removed, so that they register anew.
    func forget(_ node: TweakNode) {
        owned.withLock { owned in
            guard owned.live.contains(where: { $0.node === node }) else { return }
            owned.live.removeAll { $0.node === node }
            rebuild(&owned)
        }
    }

    /// Forgets all call sites.
    func forgetAll() {
        owned.withLock { owned in
            if owned.live.isEmpty { return }
            owned.live = []
            rebuild(&owned)
        }
    }

    private func publish(_ owned: inout Owned) {
        let slots = owned.generations[owned.generations.count - 1].pointee
        if owned.live.count * 2 > slots.mask { return rebuild(&owned) }
        if let site = owned.live.last { place(site, in: slots) }
    }

    /// A new generation; readers may still be in the old one, so that stays until the table goes.
    private func rebuild(_ owned: inout Owned) {
        var count = 64
        while count < owned.live.count * 4 { count *= 2 }
        let slots = Self.makeSlots(count: count)
        for site in owned.live { place(site, in: slots.pointee) }
        owned.generations.append(slots)
        current.store(UInt(bitPattern: slots), ordering: .releasing)
    }

    private func place(_ site: CallSite, in slots: Slots) {
        var position = site.key.hash & slots.mask
        while slots.base[position].load(ordering: .relaxed) != 0 { position = (position + 1) & slots.mask }
        slots.base[position].store(
            UInt(bitPattern: Unmanaged.passUnretained(site).toOpaque()), ordering: .releasing)
    }
}
