// Builds tweak shapes from declaration parameters, for all forms of declaration.

import Synchronization

extension TweakShape {
    /// Any kind, optionally with a closed list.
    @usableFromInline
    @_semantics("optimize.sil.specialize.generic.never")
    static func plain(
        choices: [Value]?, maxLength: Int?, validate: (@Sendable (String) -> String?)?, step: Value?, unit: String?,
        policy: TweakPolicy, help: String?, formerly: String?, flags: TweakFlags
    ) -> Self {
        Self(
            info: DeclarationInfo(
                step: step?.tweakErased, maxLength: maxLength, validate: validate, policy: policy, unit: unit,
                help: help, formerly: formerly, flags: flags),
            choices: choices.map { $0.map { Self.choice($0, nil) } })
    }

    /// A closed list with labels.
    @usableFromInline
    @_semantics("optimize.sil.specialize.generic.never")
    static func labeled(
        _ choices: KeyValuePairs<Value, String>, unit: String?, help: String?, formerly: String?, flags: TweakFlags
    ) -> Self {
        Self(
            info: DeclarationInfo(unit: unit, help: help, formerly: formerly, flags: flags),
            choices: choices.map { Self.choice($0.key, $0.value) })
    }

    /// A range, optionally with a step.
    @usableFromInline
    @_semantics("optimize.sil.specialize.generic.never")
    static func range(
        _ range: some TweakBounds<Value>, step: Value?, scale: TweakScale, unit: String?, policy: TweakPolicy,
        help: String?, formerly: String?, flags: TweakFlags
    ) -> Self {
        bounded(
            lower: range.tweakLowerBound, upper: range.tweakUpperBound, step: step, scale: scale, unit: unit,
            policy: policy, help: help, formerly: formerly, flags: flags)
    }

    @_semantics("optimize.sil.specialize.generic.never")
    static func bounded(
        lower: Value?, upper: Value?, step: Value?, scale: TweakScale, unit: String?, policy: TweakPolicy,
        help: String?, formerly: String?, flags: TweakFlags
    ) -> Self {
        Self(
            info: DeclarationInfo(
                lower: lower?.tweakErased, upper: upper?.tweakErased, step: step?.tweakErased, scale: scale,
                policy: policy, unit: unit, help: help, formerly: formerly, flags: flags))
    }

    private static func choice(_ value: Value, _ label: String?) -> TweakChoice<Value> {
        TweakChoice(value, name: value.tweakErased.choiceName, label: label)
    }
}

extension TweakRegistry {
    /// Declares a tweak; an invalid declaration is a programmer error and stops the program.
    @usableFromInline
    @_semantics("optimize.sil.specialize.generic.never")
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

    @usableFromInline
    @_semantics("optimize.sil.specialize.generic.never")
    func remember<Value>(_ key: CallSiteKey, _ tweak: Tweak<Value>) {
        callSites.insert(key, tweak)
        // The tweak may have been removed before it was inserted; then no other call cleans up the table.
        if !state.withLock({ $0.holds(tweak.node) }) { callSites.remove(tweak.node) }
    }
}

/// The three literals of a call site.
@frozen
@usableFromInline
struct CallSiteNames: Sendable {
    @usableFromInline let category: StaticString
    @usableFromInline let collection: StaticString
    @usableFromInline let name: StaticString

    @inlinable
    init(category: StaticString, collection: StaticString, name: StaticString) {
        self.category = category
        self.collection = collection
        self.name = name
    }
}
