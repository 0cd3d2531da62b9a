// Implements declarations for the trait `Frozen`: each is a constant with its description and registers nothing.

/// Whether the program is built with the package trait `Frozen`.
package enum FrozenTrait {
    #if Frozen
        package static let isOn = true
    #else
        package static let isOn = false
    #endif

    /// The error text for sets.
    static let reason = "this program is built with the Frozen trait; nothing can be set"
}

#if Frozen
    @usableFromInline typealias DeclaredShape<Value: TweakStorable> = FrozenShape<Value>

    /// The unevaluated parameters of a declaration, evaluated when its description is needed.
    @frozen
    @usableFromInline
    enum FrozenDeclaration<Value: TweakStorable>: Sendable {
        case texts(String, String, String, FrozenShape<Value>, TweakSource)
        /// The literals of a call site; not converted to strings, which would not be constant.
        case literals(StaticString, StaticString, StaticString, FrozenShape<Value>, TweakSource)
        /// Created by `TweakRegistry.register`, which may throw and is therefore evaluated at once.
        case registered(TweakNode)

        /// The node that it would have in a registry.
        func node(_ defaultValue: Value) -> TweakNode {
            switch self {
            case .registered(let node): node
            case .texts(let category, let collection, let name, let shape, let source):
                // In a separate registry: the shared one stays empty, and nothing observes or changes this node.
                TweakRegistry().declared(category, collection, name, defaultValue, shape.described, source).node
            case .literals(let category, let collection, let name, let shape, let source):
                FrozenDeclaration.texts(
                    category.description, collection.description, name.description, shape, source
                ).node(defaultValue)
            }
        }
    }

    // An enumeration, and nil instead of an empty array: the optimizer does not split structures of more than six
    // members, and even an empty array would keep a `static let` from being a constant of the program's image.
    /// The parameters of a `TweakShape`, for each form of declaration.
    @frozen
    @usableFromInline
    enum FrozenShape<Value: TweakStorable>: Sendable {
        case plain(
            choices: [Value]?, maxLength: Int?, validate: (@Sendable (String) -> String?)?, step: Value?, unit: String?,
            policy: TweakPolicy, help: String?, formerly: String?, flags: TweakFlags)
        case labeled(
            _ choices: KeyValuePairs<Value, String>, unit: String?, help: String?, formerly: String?, flags: TweakFlags)
        case bounded(
            lower: Value?, upper: Value?, step: Value?, scale: TweakScale?, unit: String?, policy: TweakPolicy,
            help: String?, formerly: String?, flags: TweakFlags)
        /// For points, lists and optionals, which are not constants of the image.
        indirect case described(TweakShape<Value>)

        @inlinable
        static func range(
            _ range: some TweakBounds<Value>, step: Value?, scale: TweakScale?, unit: String?, policy: TweakPolicy,
            help: String?, formerly: String?, flags: TweakFlags
        ) -> Self {
            .bounded(
                lower: range.tweakLowerBound, upper: range.tweakUpperBound, step: step, scale: scale, unit: unit,
                policy: policy, help: help, formerly: formerly, flags: flags)
        }

        fileprivate var described: TweakShape<Value> {
            switch self {
            case .plain(
                let choices, let maxLength, let validate, let step, let unit, let policy, let help, let formerly,
                let flags):
                .plain(
                    choices: choices, maxLength: maxLength, validate: validate, step: step, unit: unit, policy: policy,
                    help: help, formerly: formerly, flags: flags)
            case .labeled(let choices, let unit, let help, let formerly, let flags):
                .labeled(choices, unit: unit, help: help, formerly: formerly, flags: flags)
            case .bounded(
                let lower, let upper, let step, let scale, let unit, let policy, let help, let formerly, let flags):
                .bounded(
                    lower: lower, upper: upper, step: step, scale: scale, unit: unit, policy: policy, help: help,
                    formerly: formerly, flags: flags)
            case .described(let shape): shape
            }
        }
    }

    extension TweakRegistry? {
        /// Declares a tweak; the registry does not change.
        @inlinable
        func declared<Value>(
            _ category: String, _ collection: String, _ name: String, _ defaultValue: Value,
            _ shape: FrozenShape<Value>, _ source: TweakSource
        ) -> Tweak<Value> {
            Tweak(defaultValue, .texts(category, collection, name, shape, source))
        }

        /// The handle of a call site's tweak.
        @inlinable
        func tweak<Value: TweakStorable>(
            _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
            _ source: TweakSource, shape: () -> FrozenShape<Value>
        ) -> Tweak<Value> {
            Tweak(defaultValue, .literals(category, collection, name, shape(), source))
        }
    }

    /// The value of a call site: its default.
    @inlinable
    func callSiteValue<Value: TweakStorable>(
        _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
        _ registry: TweakRegistry?, _ source: TweakSource, shape: () -> FrozenShape<Value>
    ) -> Value { defaultValue }

    extension Tweak {
        @inlinable
        init(_ constant: Value, _ declaration: FrozenDeclaration<Value>) {
            self.constant = constant
            self.declaration = declaration
        }

        init(cell: Value.TweakStorage, node: TweakNode, registry: TweakRegistry) {
            self.init(cell.load(), .registered(node))
        }

        /// The default from the declaration.
        @inlinable public var defaultValue: Value { constant }

        @inlinable
        func load() -> Value { constant }

        /// Has no effect.
        @inlinable
        func assign(_ value: Value) {}

        // Created on demand, for metadata and observers; reads and writes do not need them.
        var cell: Value.TweakStorage { Value.TweakStorage(constant) }
        var node: TweakNode { declaration.node(constant) }
        var registry: TweakRegistry { .shared }
    }

    extension TweakNode {
        /// The outcome of a change: publishing a figure has no effect, since no client can see it; others throw.
        func unchanged(by change: TweakBatch.Change) throws(TweakError) -> TweakOutcome {
            guard definition.flags.contains(.readOnly), case .set = change, let value = defaultValue else {
                throw TweakError(.readOnly, "\(path.token): \(FrozenTrait.reason)", path: path)
            }
            return TweakOutcome(
                path: path, old: value, new: value, adjustment: .none, didStore: false, revision: 0,
                isSecret: isSecret)
        }
    }
#endif
