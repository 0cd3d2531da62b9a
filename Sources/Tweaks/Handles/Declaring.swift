// What all forms of declaration share.

import Synchronization

extension TweakShape {
    /// Any kind, maybe with a closed list.
    @usableFromInline
    static func plain(choices: [Value], unit: String?, help: String?, flags: TweakFlags) -> Self {
        Self(choices: choices.map { Self.choice($0, nil) }, unit: unit, help: help, flags: flags)
    }

    /// A closed list with labels.
    @usableFromInline
    static func labelled(
        _ choices: KeyValuePairs<Value, String>, unit: String?, help: String?, flags: TweakFlags
    ) -> Self {
        Self(choices: choices.map { Self.choice($0.key, $0.value) }, unit: unit, help: help, flags: flags)
    }

    /// A range, maybe with a step.
    @usableFromInline
    static func range(
        _ range: some TweakBounds<Value>, step: Value?, unit: String?, policy: TweakPolicy, help: String?,
        flags: TweakFlags
    ) -> Self {
        Self(
            lower: range.tweakLowerBound, upper: range.tweakUpperBound, step: step, policy: policy, unit: unit,
            help: help, flags: flags)
    }

    /// Text with a limit or a check.
    @usableFromInline
    static func text(
        maxLength: Int?, validate: (@Sendable (String) -> String?)?, help: String?, flags: TweakFlags
    ) -> Self {
        Self(maxLength: maxLength, validate: validate, help: help, flags: flags)
    }

    private static func choice(_ value: Value, _ label: String?) -> TweakChoice<Value> {
        TweakChoice(value, name: value.erased.choiceName, label: label)
    }
}

extension TweakValue {
    /// The name of this value in a closed list: its text, without quotes.
    var choiceName: String {
        switch self {
        case .string(let text), .choice(let text): text
        default: text
        }
    }
}

extension TweakRegistry {
    /// Declares a tweak; one that cannot be right is the programmer's error and stops the program.
    @usableFromInline
    func declared<Value>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, _ shape: TweakShape<Value>,
        _ source: TweakSource
    ) -> Tweak<Value> {
        do {
            return try declare(TweakPath(category, collection, name), defaultValue, shape, source)
        } catch {
            fatalError("Tweaks: \(source): \(error)")
        }
    }

    /// The same for the literals of a call site.
    @usableFromInline
    func declared<Value>(
        _ names: CallSiteNames, _ defaultValue: Value, _ shape: TweakShape<Value>, _ source: TweakSource
    ) -> Tweak<Value> {
        declared(
            names.category.description, names.collection.description, names.name.description, defaultValue, shape,
            source)
    }

    /// The handle of a call site's tweak.
    @inlinable
    func tweak<Value: TweakConvertible>(
        _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ source: TweakSource,
        declare: (CallSiteNames, TweakSource) -> Tweak<Value>
    ) -> Tweak<Value> {
        let key = CallSiteKey(category, collection, name, source, ObjectIdentifier(Value.self))
        if let key, let site = callSites.find(key) {
            return site._withUnsafeGuaranteedRef {
                Tweak(
                    cell: Unmanaged<Value.TweakStorage>.fromOpaque($0.cell).takeUnretainedValue(), node: $0.node,
                    registry: self)
            }
        }
        let tweak = declare(CallSiteNames(category: category, collection: collection, name: name), source)
        if let key { remember(key, tweak) }
        return tweak
    }

    @usableFromInline
    func remember<Value>(_ key: CallSiteKey, _ tweak: Tweak<Value>) {
        callSites.insert(CallSite(key: key, node: tweak.node, cell: tweak.cell))
        // It may have been removed since it was found; then nobody else will forget it.
        if !state.withLock({ $0.holds(tweak.node) }) { callSites.forget(tweak.node) }
    }
}

/// The three literals of a call site.
@usableFromInline
struct CallSiteNames {
    let category: StaticString
    let collection: StaticString
    let name: StaticString

    @usableFromInline
    init(category: StaticString, collection: StaticString, name: StaticString) {
        self.category = category
        self.collection = collection
        self.name = name
    }
}

/// The value of a call site's tweak, without a lock or a retain.
@inlinable
func callSiteValue<Value: TweakConvertible>(
    _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ registry: TweakRegistry?,
    _ source: TweakSource, declare: (CallSiteNames, TweakSource) -> Tweak<Value>
) -> Value {
    let key = CallSiteKey(category, collection, name, source, ObjectIdentifier(Value.self))
    let table = registry.map { Unmanaged.passUnretained($0.callSites) } ?? sharedCallSites
    if let key, let site = table._withUnsafeGuaranteedRef({ $0.find(key) }) {
        // The type is part of the key, so this is the cell's own type.
        return site._withUnsafeGuaranteedRef { site in
            Unmanaged<Value.TweakStorage>.fromOpaque(site.cell)._withUnsafeGuaranteedRef { $0.load() }
        }
    }
    let tweak = declare(CallSiteNames(category: category, collection: collection, name: name), source)
    if let key { tweak.registry.remember(key, tweak) }
    return tweak.cell.load()
}

// The shared registry lives as long as the program; so does its table.
@usableFromInline let sharedCallSites = Unmanaged.passUnretained(TweakRegistry.shared.callSites)
