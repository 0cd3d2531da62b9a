// Finds the tweak of a call site in a few nanoseconds, without a lock for readers.

import Synchronization

/// Identifies a call site by the addresses of its literals, its source location, and the value type.
///
/// Literals live as long as the program, so their addresses identify them. The location is part of the key so that two
/// declarations of one path both register, which detects conflicts.
@frozen
@usableFromInline
struct CallSiteKey: Equatable, Sendable {
    // In the order in which call sites differ, as they are compared.
    @usableFromInline let name: UInt
    @usableFromInline let line: UInt
    @usableFromInline let collection: UInt
    @usableFromInline let category: UInt
    @usableFromInline let file: UInt
    @usableFromInline let type: ObjectIdentifier

    // Inlined, so that the key is constant at a call site.
    /// Creates a key; nil for a literal that has no address.
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
        // Addresses differ in their middle bits; one multiplication spreads them to the upper bits.
        let mixed = (name &+ collection &* 3 &+ category &* 5 &+ line &* 31) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 32)
    }
}

/// A registered call site. It lives as long as its table, so that readers need no lock and no retain.
// Unchecked: the table's lock guards `current`.
private final class CallSite: @unchecked Sendable {
    let key: CallSiteKey
    /// The unretained address of the typed cell, which saves a read the reference counting; 0 if the tweak was removed.
    let cell = Atomic<UInt>(0)
    var current: Found?

    init(_ key: CallSiteKey) { self.key = key }

    typealias Found = (node: TweakNode, cell: any AnyObject & Sendable)
}

/// The cells of one path and type that a reader without a lock may still access.
///
/// Readers cannot be counted, so no cell is ever freed. A cell without other references is reused by the next tweak
/// that is declared with this path.
private final class CellPool<Cell: TweakCell> {
    private var cells: [Cell] = []

    /// Returns false if it has the cell already.
    func add(_ cell: Cell) -> Bool {
        if cells.contains(where: { $0 === cell }) { return false }
        cells.append(cell)
        return true
    }

    func reusableCell() -> Cell? {
        for position in cells.indices where isKnownUniquelyReferenced(&cells[position]) { return cells[position] }
        return nil
    }
}

/// A hash table that is read without a lock and written under one.
///
/// Its size depends on the number of call sites only, not on how often their tweaks are removed and declared again.
@usableFromInline
final class CallSiteTable: Sendable {
    /// One generation of slots; each is 0, or the address of a `CallSite`. The table owns it, so that readers need not
    /// retain it.
    // Unchecked: the slots are only accessed atomically.
    private final class Slots: @unchecked Sendable {
        let mask: Int
        private let base: UnsafeMutablePointer<Atomic<UInt>>

        /// - Parameter count: A power of two, as the mask requires.
        init(count: Int) {
            mask = count - 1
            base = .allocate(capacity: count)
            for position in 0..<count { (base + position).initialize(to: Atomic(0)) }
        }

        deinit {
            base.deinitialize(count: mask + 1)
            base.deallocate()
        }

        func find(_ key: CallSiteKey) -> Unmanaged<CallSite>? {
            var position = key.hash & mask
            while true {
                let address = base[position].load(ordering: .acquiring)
                guard let opaque = UnsafeRawPointer(bitPattern: address) else { return nil }
                let site = Unmanaged<CallSite>.fromOpaque(opaque)
                if site._withUnsafeGuaranteedRef({ $0.key == key }) { return site }
                position = (position &+ 1) & mask
            }
        }

        func place(_ site: CallSite) {
            var position = site.key.hash & mask
            while base[position].load(ordering: .relaxed) != 0 { position = (position + 1) & mask }
            base[position].store(UInt(bitPattern: Unmanaged.passUnretained(site).toOpaque()), ordering: .releasing)
        }
    }

    private struct PoolKey: Hashable {
        let path: TweakPath
        let type: ObjectIdentifier
    }

    /// All objects that a reader may still access; released with the table.
    // Unchecked: sites and pools are changed under the lock only.
    private struct Owned: @unchecked Sendable {
        var generations: [Slots]
        var sites: [CallSite] = []
        var pools: [PoolKey: AnyObject] = [:]
        var cellCount = 0

        func pool<Cell: TweakCell>(_ path: TweakPath, _ type: Cell.Type) -> CellPool<Cell>? {
            if pools.isEmpty { return nil }
            return pools[PoolKey(path: path, type: ObjectIdentifier(type))] as? CellPool<Cell>
        }

        /// Retains a cell that is about to become visible to readers.
        mutating func retain<Cell: TweakCell>(_ cell: Cell, _ path: TweakPath) {
            let pool = pool(path, Cell.self) ?? CellPool()
            if pool.add(cell) { cellCount += 1 }
            pools[PoolKey(path: path, type: ObjectIdentifier(Cell.self))] = pool
        }
    }

    private let current: Atomic<UInt>
    private let owned: Mutex<Owned>

    init() {
        let first = Slots(count: 64)
        current = Atomic(UInt(bitPattern: Unmanaged.passUnretained(first).toOpaque()))
        owned = Mutex(Owned(generations: [first]))
    }

    // MARK: Reading

    /// The cell of a known call site. It is valid as long as the table.
    @usableFromInline
    func cell(_ key: CallSiteKey) -> UnsafeRawPointer? {
        guard let site = find(key) else { return nil }
        return UnsafeRawPointer(bitPattern: site._withUnsafeGuaranteedRef { $0.cell.load(ordering: .acquiring) })
    }

    /// The tweak of a known call site, for a handle. Retained under the lock, since a removal may run concurrently.
    @usableFromInline
    func tweak(_ key: CallSiteKey) -> (node: TweakNode, cell: any AnyObject & Sendable)? {
        guard let site = find(key) else { return nil }
        return owned.withLock { _ in site._withUnsafeGuaranteedRef { $0.current } }
    }

    private func find(_ key: CallSiteKey) -> Unmanaged<CallSite>? {
        guard let slots = UnsafeRawPointer(bitPattern: current.load(ordering: .acquiring)) else { return nil }
        return Unmanaged<Slots>.fromOpaque(slots)._withUnsafeGuaranteedRef { $0.find(key) }
    }

    // MARK: Writing

    /// Adds the tweak of a call site. If another thread was faster, its tweak stays.
    func insert<Value: TweakStorable>(_ key: CallSiteKey, _ tweak: Tweak<Value>) {
        let cell = tweak.cell
        let address = UInt(bitPattern: Unmanaged.passUnretained(cell).toOpaque())
        owned.withLock { owned in
            let site = find(key)?.takeUnretainedValue() ?? add(key, &owned)
            if site.current != nil { return }
            owned.retain(cell, tweak.node.path)
            site.current = (tweak.node, cell)
            site.cell.store(address, ordering: .releasing)
        }
    }

    /// A cell of a removed tweak with this path.
    func reusableCell<Value: TweakStorable>(_ path: TweakPath, _ type: Value.Type) -> Value.TweakStorage? {
        owned.withLock { $0.pool(path, Value.TweakStorage.self)?.reusableCell() }
    }

    /// Removes the tweak from its call sites, so that they register again.
    func remove(_ node: TweakNode) { remove { $0 === node } }

    /// Removes the tweaks from all call sites.
    func removeAll() { remove { _ in true } }

    private func remove(_ isGone: (TweakNode) -> Bool) {
        let gone = owned.withLock { owned in
            owned.sites.compactMap { site -> CallSite.Found? in
                guard let found = site.current, isGone(found.node) else { return nil }
                site.cell.store(0, ordering: .releasing)
                site.current = nil
                return found
            }
        }
        // Released after the lock: they own values of the program.
        withExtendedLifetime(gone) {}
    }

    private func add(_ key: CallSiteKey, _ owned: inout Owned) -> CallSite {
        let site = CallSite(key)
        owned.sites.append(site)
        let slots = owned.generations[owned.generations.count - 1]
        if owned.sites.count * 2 > slots.mask { grow(from: slots, &owned) } else { slots.place(site) }
        return site
    }

    /// Adds a larger generation. Readers may still use the old one, so it stays until the table is released.
    private func grow(from slots: Slots, _ owned: inout Owned) {
        let larger = Slots(count: (slots.mask + 1) * 4)
        for site in owned.sites { larger.place(site) }
        owned.generations.append(larger)
        current.store(UInt(bitPattern: Unmanaged.passUnretained(larger).toOpaque()), ordering: .releasing)
    }

    /// The numbers of call sites, cells and generations of slots.
    var counts: (sites: Int, cells: Int, generations: Int) {
        owned.withLock { ($0.sites.count, $0.cellCount, $0.generations.count) }
    }
}

// MARK: - Declaring

#if !Frozen
    @usableFromInline typealias DeclaredShape<Value: TweakStorable> = TweakShape<Value>

    extension TweakShape {
        /// The same; with the trait `Frozen`, the shape of a declaration that is not a constant.
        static func described(_ shape: Self) -> Self { shape }
    }

    // Nil is the shared registry: as an explicit argument it would be retained and released by every call.
    extension TweakRegistry? {
        /// Declares a tweak; an invalid declaration is a programmer error and stops the program.
        @usableFromInline
        @_semantics("optimize.sil.specialize.generic.never")
        func declared<Value>(
            _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
            _ shape: TweakShape<Value>, _ source: TweakSource
        ) -> Tweak<Value> {
            (self ?? .shared).declared(category, collection, name, defaultValue, shape, source)
        }

        /// Declares the tweak of a call site, and remembers it for the next call.
        @usableFromInline
        @_semantics("optimize.sil.specialize.generic.never")
        func declared<Value>(
            _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
            _ shape: TweakShape<Value>, _ source: TweakSource, _ key: CallSiteKey?
        ) -> Tweak<Value> {
            let tweak = declared(
                category.description, collection.description, name.description, defaultValue, shape, source)
            if let key { tweak.registry.remember(key, tweak) }
            return tweak
        }

        /// The handle of a call site's tweak.
        @inlinable
        func tweak<Value: TweakStorable>(
            _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
            _ source: TweakSource, shape: () -> TweakShape<Value>
        ) -> Tweak<Value> {
            let registry = self ?? .shared
            let key = CallSiteKey(category, collection, name, source, ObjectIdentifier(Value.self))
            if let key, let known = registry.callSites.tweak(key) {
                // The type is part of the key, so the cast is valid.
                return Tweak(
                    cell: unsafeDowncast(known.cell, to: Value.TweakStorage.self), node: known.node, registry: registry)
            }
            return declared(category, collection, name, defaultValue, shape(), source, key)
        }
    }

    /// The value of a call site's tweak, without a lock or a retain.
    @inlinable
    func callSiteValue<Value: TweakStorable>(
        _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
        _ registry: TweakRegistry?, _ source: TweakSource, shape: () -> TweakShape<Value>
    ) -> Value {
        let key = CallSiteKey(category, collection, name, source, ObjectIdentifier(Value.self))
        let table = registry.map { Unmanaged.passUnretained($0.callSites) } ?? sharedCallSites
        if let key, let cell = table._withUnsafeGuaranteedRef({ $0.cell(key) }) {
            // The type is part of the key, so the cast is valid.
            return Unmanaged<Value.TweakStorage>.fromOpaque(cell)._withUnsafeGuaranteedRef { $0.load() }
        }
        return registry.declared(category, collection, name, defaultValue, shape(), source, key).cell.load()
    }

    // The shared registry and its table live as long as the program.
    @usableFromInline let sharedCallSites = Unmanaged.passUnretained(TweakRegistry.shared.callSites)
#endif

extension TweakRegistry {
    /// Lets a call site find its tweak from now on.
    @_semantics("optimize.sil.specialize.generic.never")
    func remember<Value>(_ key: CallSiteKey, _ tweak: Tweak<Value>) {
        callSites.insert(key, tweak)
        // The tweak may have been removed before it was inserted; then no other call cleans up the table.
        if !state.withLock({ $0.holds(tweak.node) }) { callSites.remove(tweak.node) }
    }
}
