// Registers tweaks by their definitions alone, as those of other programs: no code reads their values in a Swift type.

/// Accepts every value that the definition does, and keeps none: there is no cell to read.
private final class UntypedCore: TweakValueCore {
    var holdsObjects: Bool { false }
    var isRelative: Bool { false }

    func prepare(_ value: TweakValue) -> Prepared? { Prepared(value: value, typed: .word(0)) }
    func store(word: UInt64) {}
    func store(position: Int) {}
    func store(_ object: any Sendable) -> (any Sendable)? { nil }
}

extension TweakRegistry {
    /// Registers a tweak that another program declares. One that has the path already stays as it is.
    /// - Parameter value: The default.
    /// - Throws: ``TweakError`` for texts that cannot be shown, and a default that the definition refuses.
    // Optimized, it would be compiled together with copies of all that it calls to register.
    @_optimize(none)
    package func declare(
        _ path: TweakPath, _ definition: TweakDefinition, default value: TweakValue
    ) throws(TweakError) {
        try definition.checkTexts(path)
        let value = try definition.validate(value, for: path, policy: .reject).value
        let content = TweakNode.Content.value(UntypedCore(), default: Prepared(value: value, typed: .word(0)))
        let source = TweakSource(fileID: "another program", line: 1)
        _ = register(path, source) { slot, sequence in
            TweakNode(
                path: path, definition: definition, source: source, slot: slot, sequence: sequence,
                declaredAt: currentTime, content: content)
        }
    }
}
