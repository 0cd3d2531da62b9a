// A tweak of a program that is built with the trait `Frozen`: its default, for ever.

/// Whether the program is built with the package trait `Frozen`.
package enum FrozenTrait {
    #if Frozen
        package static let isOn = true
    #else
        package static let isOn = false
    #endif

    /// Why nothing can be set.
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

        /// What the code says.
        @inlinable public var defaultValue: Value { constant }

        @inlinable
        func load() -> Value { constant }

        /// Nothing can be set.
        @inlinable
        func assign(_ value: Value) {}

        // Made when they are asked for, by facts and observers: reads and writes never do.
        var cell: Value.TweakStorage { Value.TweakStorage(constant) }
        var node: TweakNode { declaration.node(constant) }
        var registry: TweakRegistry { .shared }
    }

    extension TweakNode {
        /// What a change comes to: a figure that is published stays as it is, since nobody can see it.
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
