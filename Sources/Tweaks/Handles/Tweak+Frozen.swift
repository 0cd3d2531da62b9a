// Implements `Tweak` for programs that are built with the trait `Frozen`: the value is always the default.

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
