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

/// One call site that was met. It lives as long as its table, so that readers need no lock and no retain.
// Unchecked: the table's lock guards `current`.
private final class CallSite: @unchecked Sendable {
    let key: CallSiteKey
    /// The address of the typed cell, without the retain that a read would pay for twice; 0 when the tweak is gone.
    let cell = Atomic<UInt>(0)
    var current: Found?

    init(_ key: CallSiteKey) { self.key = key }

    typealias Found = (node: TweakNode, cell: any AnyObject & Sendable)
}

/// The cells of one path and type that a reader without a lock may still look at. Readers cannot be counted, so that none
/// of them is ever freed; but once nothing else refers to it, it serves the next tweak that is declared with this path.
private final class CellPool<Cell: TweakCell> {
    private var cells: [Cell] = []
    var count: Int { cells.count }

    func add(_ cell: Cell) {
        if !cells.contains(where: { $0 === cell }) { cells.append(cell) }
    }

    func spare() -> Cell? {
        for position in cells.indices where isKnownUniquelyReferenced(&cells[position]) { return cells[position] }
        return nil
    }
}

/// A hash table that is read without a lock and written under one.
///
/// It is as large as the program has call sites, however often their tweaks are removed and declared again.
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

    private struct PoolKey: Hashable {
        let path: TweakPath
        let type: ObjectIdentifier
    }

    /// Everything that a reader may still look at; released with the table.
    // Unchecked: the pointers are freed by the table's deinit alone, and pools are touched under the lock.
    private struct Owned: @unchecked Sendable {
        var generations: [UnsafeMutablePointer<Slots>]
        var sites: [CallSite] = []
        var pools: [PoolKey: AnyObject] = [:]
        var cellCount = 0

        func pool<Cell: TweakCell>(_ path: TweakPath, _ type: Cell.Type) -> CellPool<Cell>? {
            if pools.isEmpty { return nil }
            return pools[PoolKey(path: path, type: ObjectIdentifier(type))] as? CellPool<Cell>
        }

        /// Keeps a cell that is about to be shown to readers.
        mutating func keep<Cell: TweakCell>(_ cell: Cell, _ path: TweakPath) {
            let pool = pool(path, Cell.self) ?? CellPool()
            cellCount -= pool.count
            pool.add(cell)
            cellCount += pool.count
            pools[PoolKey(path: path, type: ObjectIdentifier(Cell.self))] = pool
        }
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

    // MARK: Reading

    /// The cell of a call site that was met before. It is valid as long as the table.
    @usableFromInline
    func cell(_ key: CallSiteKey) -> UnsafeRawPointer? {
        guard let site = find(key) else { return nil }
        return UnsafeRawPointer(bitPattern: site._withUnsafeGuaranteedRef { $0.cell.load(ordering: .acquiring) })
    }

    /// The tweak of a call site that was met before, for a handle: that keeps it, and so a removal must not come between.
    @usableFromInline
    func tweak(_ key: CallSiteKey) -> (node: TweakNode, cell: any AnyObject & Sendable)? {
        guard let site = find(key) else { return nil }
        return owned.withLock { _ in site._withUnsafeGuaranteedRef { $0.current } }
    }

    private func find(_ key: CallSiteKey) -> Unmanaged<CallSite>? {
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

    // MARK: Writing

    /// Remembers the tweak of a call site. Where another thread was first, that one's tweak stays.
    func insert<Value: TweakStorable>(_ key: CallSiteKey, _ tweak: Tweak<Value>) {
        let cell = tweak.cell
        let address = UInt(bitPattern: Unmanaged.passUnretained(cell).toOpaque())
        owned.withLock { owned in
            let site = find(key)?.takeUnretainedValue() ?? add(key, &owned)
            if site.current != nil { return }
            owned.keep(cell, tweak.node.path)
            site.current = (tweak.node, cell)
            site.cell.store(address, ordering: .releasing)
        }
    }

    /// A cell that served a tweak with this path which is gone.
    func spareCell<Value: TweakStorable>(_ path: TweakPath, _ type: Value.Type) -> Value.TweakStorage? {
        owned.withLock { $0.pool(path, Value.TweakStorage.self)?.spare() }
    }

    /// Forgets the call sites of a tweak that was removed, so that they register anew.
    func forget(_ node: TweakNode) { forget { $0 === node } }

    /// Forgets all call sites.
    func forgetAll() { forget { _ in true } }

    private func forget(_ isGone: (TweakNode) -> Bool) {
        let gone = owned.withLock { owned in
            owned.sites.compactMap { site -> CallSite.Found? in
                guard let found = site.current, isGone(found.node) else { return nil }
                site.cell.store(0, ordering: .releasing)
                site.current = nil
                return found
            }
        }
        // Released here: they hold values of the program.
        withExtendedLifetime(gone) {}
    }

    private func add(_ key: CallSiteKey, _ owned: inout Owned) -> CallSite {
        let site = CallSite(key)
        owned.sites.append(site)
        let slots = owned.generations[owned.generations.count - 1].pointee
        if owned.sites.count * 2 > slots.mask { grow(&owned) } else { place(site, in: slots) }
        return site
    }

    /// A new generation; readers may still be in the old one, so that stays until the table goes.
    private func grow(_ owned: inout Owned) {
        // A power of two, as the mask wants it.
        let slots = Self.makeSlots(count: (owned.generations[owned.generations.count - 1].pointee.mask + 1) * 4)
        for site in owned.sites { place(site, in: slots.pointee) }
        owned.generations.append(slots)
        current.store(UInt(bitPattern: slots), ordering: .releasing)
    }

    private func place(_ site: CallSite, in slots: Slots) {
        var position = site.key.hash & slots.mask
        while slots.base[position].load(ordering: .relaxed) != 0 { position = (position + 1) & slots.mask }
        slots.base[position].store(
            UInt(bitPattern: Unmanaged.passUnretained(site).toOpaque()), ordering: .releasing)
    }

    /// How many call sites, cells and generations of slots it keeps.
    var counts: (sites: Int, cells: Int, generations: Int) {
        owned.withLock { ($0.sites.count, $0.cellCount, $0.generations.count) }
    }
}
