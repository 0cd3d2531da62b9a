// Implements declarations by registering a tweak; FrozenDeclaration.swift does so for the trait `Frozen`.

#if !Frozen
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

        /// Declares a tweak with the literals of a call site.
        @usableFromInline
        @_semantics("optimize.sil.specialize.generic.never")
        func declared<Value>(
            _ names: CallSiteNames, _ defaultValue: Value, _ shape: TweakShape<Value>, _ source: TweakSource
        ) -> Tweak<Value> {
            declared(
                names.category.description, names.collection.description, names.name.description, defaultValue, shape,
                source)
        }

        /// The handle of a call site's tweak.
        @inlinable
        func tweak<Value: TweakStorable>(
            _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ source: TweakSource,
            declare: (CallSiteNames, TweakSource) -> Tweak<Value>
        ) -> Tweak<Value> {
            let registry = self ?? .shared
            let key = CallSiteKey(category, collection, name, source, ObjectIdentifier(Value.self))
            if let key, let known = registry.callSites.tweak(key) {
                // The type is part of the key, so the cast is valid.
                return Tweak(
                    cell: unsafeDowncast(known.cell, to: Value.TweakStorage.self), node: known.node, registry: registry)
            }
            let tweak = declare(CallSiteNames(category: category, collection: collection, name: name), source)
            if let key { registry.remember(key, tweak) }
            return tweak
        }
    }

    /// The value of a call site's tweak, without a lock or a retain.
    @inlinable
    func callSiteValue<Value: TweakStorable>(
        _ category: StaticString, _ collection: StaticString, _ name: StaticString, _ defaultValue: Value,
        _ registry: TweakRegistry?, _ source: TweakSource, declare: (CallSiteNames, TweakSource) -> Tweak<Value>
    ) -> Value {
        let key = CallSiteKey(category, collection, name, source, ObjectIdentifier(Value.self))
        let table = registry.map { Unmanaged.passUnretained($0.callSites) } ?? sharedCallSites
        if let key, let cell = table._withUnsafeGuaranteedRef({ $0.cell(key) }) {
            // The type is part of the key, so the cast is valid.
            return Unmanaged<Value.TweakStorage>.fromOpaque(cell)._withUnsafeGuaranteedRef { $0.load() }
        }
        let tweak = declare(CallSiteNames(category: category, collection: collection, name: name), source)
        if let key { tweak.registry.remember(key, tweak) }
        return tweak.cell.load()
    }

    // The shared registry and its table live as long as the program.
    @usableFromInline let sharedCallSites = Unmanaged.passUnretained(TweakRegistry.shared.callSites)
#endif
