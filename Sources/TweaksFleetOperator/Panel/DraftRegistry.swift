// Keeps the tweaks of a fleet's builds as a registry of this program, with the fleet's values as a layer.

import Tweaks
import TweaksFleet

/// The registry of the page. What a user changes in it is a draft: an override here, which nothing sends or stores.
struct DraftRegistry {
    /// What a build declares of a tweak.
    private struct Declaration {
        var definition: TweakDefinition
        /// The default; nil if its build has written none.
        var initial: TweakValue?

        func agrees(with other: Declaration) -> Bool {
            initial == other.initial && definition.agrees(with: other.definition)
        }
    }

    let registry = TweakRegistry()
    private var declared: [TweakPath: Declaration] = [:]
    private var applied: [TweakPath: DesiredValue] = [:]
    /// The paths that live builds declare in different ways.
    private(set) var differing: Set<TweakPath> = []
    /// The paths whose default no build has written.
    private(set) var undefaulted: Set<TweakPath> = []

    // MARK: Declarations

    /// Declares the tweaks of the builds that processes run; of all builds while none does. Of several declarations of a
    /// path, that of the build with the process that started last applies.
    mutating func declare(_ catalog: BuildCatalog, _ live: [LiveInstance]) {
        let wanted = wanted(catalog, live)
        for path in declared.keys where wanted[path] == nil { remove(path) }
        let changed = wanted.filter { path, declaration in
            declared[path].map { !$0.agrees(with: declaration) } ?? true
        }
        for (path, declaration) in changed.sorted(by: { $0.key.joined < $1.key.joined }) { declare(path, declaration) }
    }

    private mutating func wanted(_ catalog: BuildCatalog, _ live: [LiveInstance]) -> [TweakPath: Declaration] {
        let starts = Dictionary(grouping: live, by: \.status.build).mapValues { $0.map(\.status.started).max() ?? 0 }
        let hasLive = catalog.entries.contains { $0.live > 0 }
        let entries = catalog.entries.filter { $0.live > 0 || !hasLive }
            .sorted { (starts[$1.hash] ?? -1, $1.hash) < (starts[$0.hash] ?? -1, $0.hash) }
        var wanted: [TweakPath: Declaration] = [:]
        differing = []
        for build in entries.map(\.build) {
            // Figures are published by each process; they have no value for all.
            for (path, definition) in build.definitions where !definition.flags.contains(.readOnly) {
                let declaration = Declaration(definition: definition, initial: build.defaults[path])
                guard let known = wanted[path] else {
                    wanted[path] = declaration
                    continue
                }
                if !known.agrees(with: declaration) { differing.insert(path) }
            }
        }
        return wanted
    }

    private mutating func declare(_ path: TweakPath, _ declaration: Declaration) {
        let draft = declared[path].flatMap { _ in self.draft(of: path) }
        remove(path)
        declared[path] = declaration
        let definition = declaration.definition.withSafeTexts
        if declaration.initial == nil, !definition.flags.contains(.secret) { undefaulted.insert(path) }
        // What cannot be declared is not shown; the verbs of the command line still reach it.
        try? registry.declare(path, definition, default: declaration.initial ?? definition.placeholder)
        // A draft that the new declaration refuses is gone.
        if let draft { _ = try? registry[path.joined]?.set(draft) }
    }

    private mutating func remove(_ path: TweakPath) {
        registry.remove(path)
        (declared[path], applied[path]) = (nil, nil)
        undefaulted.remove(path)
    }

    // MARK: The fleet's values

    /// Applies the fleet's values for all processes.
    mutating func apply(_ view: OperatorView, now: Int64) {
        let values = view.values.mapValues(\.value)
        let changed = Set(values.keys).union(applied.keys).filter { applied[$0] != values[$0] }
        if changed.isEmpty { return }
        let moment = registry.currentTime
        let entries = changed.reduce(into: [TweakPath: StoredEntry]()) { entries, path in
            guard let value = values[path] else { return }
            let age = now.subtractingReportingOverflow(value.at)
            let milliseconds = age.overflow ? 0 : max(0, min(age.partialValue, 1 << 45))
            entries[path] = StoredEntry(
                path: path, content: .value(value.value), origin: TweakOrigin("fleet: \(value.by)"),
                time: moment.advanced(by: .zero - .milliseconds(milliseconds)))
        }
        _ = registry.update(
            .fleet, to: entries, changed: changed, origin: TweakOrigin("fleet"), delivery: .executor)
        for path in changed { applied[path] = values[path] }
    }

    // MARK: Drafts

    /// The draft of a path; nil without one.
    func draft(of path: TweakPath) -> TweakValue? {
        registry[path.joined].flatMap { $0.layers.last }.flatMap { $0.layer.isOverride ? $0.value : nil }
    }

    /// Whether the draft of a path ends by itself.
    func isTemporary(_ path: TweakPath) -> Bool { registry[path.joined]?.layers.last?.layer == .temporaryOverride }

    /// The paths with a draft.
    var drafts: [TweakPath] { registry.listing().nodes.map(\.path).filter { draft(of: $0) != nil } }

    /// Removes the drafts that are as they were written; a later draft stays.
    func discard(_ written: [FleetAssignment]) {
        for assignment in written {
            let revision = registry.revision
            guard let tweak = registry[assignment.path.joined], draft(of: assignment.path) == assignment.value else {
                continue
            }
            // Refused if it has changed meanwhile.
            _ = try? registry.commit(ifUnchangedSince: revision) { (batch: inout TweakBatch) in batch.reset(tweak) }
        }
    }
}

extension TweakDefinition {
    /// The definition without texts that would affect what is around them. Processes write them, and may write anything.
    fileprivate var withSafeTexts: TweakDefinition {
        TweakDefinition(
            kind: kind, limits: limits, scale: scale, choices: choices, minLength: minLength, maxLength: maxLength,
            policy: policy, unit: unit.flatMap { Quoting.isSafe($0) ? $0 : nil },
            help: help.map(Quoting.sanitized), flags: flags, components: components)
    }

    /// A value that stands for an unknown default.
    fileprivate var placeholder: TweakValue {
        switch kind {
        case .bool: .bool(false)
        case .int, .number, .duration: standard ?? bounds?.lower ?? bounds?.upper ?? zero
        case .string: .string("")
        case .color: .color(.black)
        case .choice: .choice(choices.first?.name ?? "")
        case .point: bounds?.lower ?? .point(TweakPoint(x: 0, y: 0))
        case .curve: .curve(.linear)
        case .list: .list([])
        default: .notSet
        }
    }

    private var zero: TweakValue {
        switch kind {
        case .int: .int(0)
        case .duration: .duration(.zero)
        default: .number(0)
        }
    }

    /// The value that steps are counted from: the default of a number with limits.
    private var standard: TweakValue? {
        switch limits {
        case .none: nil
        case .whole(_, _, _, let standard):
            standard.flatMap { number in
                kind == .duration
                    ? Int64(exactly: number).map { .duration(.nanoseconds($0)) }
                    : Int64(exactly: number).map { .int($0) } ?? UInt64(exactly: number).map { .unsigned($0) }
            }
        case .real(_, _, _, let standard): standard.map { .number($0) }
        }
    }
}
