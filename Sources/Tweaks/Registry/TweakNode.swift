// Defines the registry's entry for a tweak: path, definition, default, and the cell that the program reads.

import Synchronization

/// One registered tweak or action. Immutable except for its cell; mutable data is in the registry's state.
@usableFromInline
package final class TweakNode: Sendable {
    package let path: TweakPath
    package let definition: TweakDefinition
    package let source: TweakSource
    /// Its paths in earlier versions of the program.
    package let formerly: [TweakPath]
    /// Its part in a group's value; nil for a tweak that was declared alone.
    package let role: TemplateRole?
    /// The index of its data in the registry's state.
    package let slot: Int
    /// Its position in the order of declaration.
    let sequence: UInt64
    package let declaredAt: Moment
    /// Converts and stores values; nil for an action.
    let core: (any TweakValueCore)?
    /// The default from the declaration; nil for an action.
    let defaultPrepared: Prepared?
    /// Runs the action; nil for a value.
    let runner: ActionRunner?
    /// Whether its values may own objects of the program.
    let holdsObjects: Bool
    /// Whether its values are converted to the unit of the default.
    let isRelative: Bool
    /// The address of the cached texts, 0 until first use; see `texts`.
    let textsAddress = Atomic<UInt>(0)
    /// The object that `withObservationTracking` tracks; created when `observed` is first read.
    let observed = AtomicLazyReference<ObservationSource>()

    /// Value or action.
    enum Content: Sendable {
        case value(any TweakValueCore, default: Prepared)
        case action(ActionRunner)
    }

    init(
        path: TweakPath, definition: TweakDefinition, source: TweakSource, formerly: [TweakPath] = [], slot: Int,
        sequence: UInt64, declaredAt: Moment, role: TemplateRole? = nil, content: Content
    ) {
        self.path = path
        self.definition = definition
        self.source = source
        self.formerly = formerly
        self.role = role
        self.slot = slot
        self.sequence = sequence
        self.declaredAt = declaredAt
        switch content {
        case .value(let core, let prepared):
            (self.core, defaultPrepared, runner, holdsObjects) = (core, prepared, nil, core.holdsObjects)
            isRelative = core.isRelative
        case .action(let runner):
            core = nil
            defaultPrepared = nil
            self.runner = runner
            holdsObjects = false
            isRelative = false
        }
    }

    deinit { releaseTexts() }

    /// The default from the declaration; nil for an action.
    package var defaultValue: TweakValue? { defaultPrepared?.value }

    /// Validates and converts a value. Runs validators of the program, so it must not be called under a lock.
    package func prepare(
        _ value: TweakValue, policy: TweakPolicy? = nil
    ) throws(TweakError) -> (prepared: Prepared, adjustment: TweakAdjustment) {
        let validated = try definition.validate(value, for: path, policy: policy)
        guard let prepared = core?.prepare(validated.value) else {
            throw TweakError(
                .outOfRange, "\(path.token): \(definition.shown(value)) does not fit the type that the program uses",
                path: path)
        }
        return (prepared, validated.adjustment)
    }

    /// Whether the program's type has a value. May run code of the program, so it must not be called under a lock.
    package func holds(_ value: TweakValue) -> Bool { core?.prepare(value) != nil }

    /// Stores a value in the cell that the program reads. Only under the registry's lock.
    /// - Parameter released: Receives the previous value if releasing it may run code of the program; the caller
    ///   releases it after the lock.
    func store(_ prepared: Prepared, _ released: inout [any Sendable]) {
        guard let core else { return }
        guard let object = prepared.typed.object else { return core.store(word: prepared.typed.word) }
        if let position = object.position { return core.store(position: position) }
        if let old = core.store(object.value) { released.append(old) }
    }

}

/// The source location of a declaration.
@frozen
public struct TweakSource: Sendable, CustomStringConvertible {
    @usableFromInline let fileID: StaticString
    @usableFromInline let line: UInt

    @inlinable
    init(fileID: StaticString, line: UInt) {
        self.fileID = fileID
        self.line = line
    }

    /// `Module/File.swift:12`.
    public var description: String { "\(fileID):\(line)" }
}

/// A type-erased interface to the typed part of a node.
protocol TweakValueCore: AnyObject, Sendable {
    /// Whether releasing a value may run code of the program.
    var holdsObjects: Bool { get }
    /// Whether values are converted to the unit of the default.
    var isRelative: Bool { get }
    func prepare(_ value: TweakValue) -> Prepared?
    func store(word: UInt64)
    func store(position: Int)
    /// Returns the previous value if it may own objects.
    func store(_ object: any Sendable) -> (any Sendable)?
}

/// Converts between the erased and the typed value, and owns the cell.
final class TypedCore<Value: TweakStorable>: TweakValueCore {
    let cell: Value.TweakStorage
    let defaultValue: Value
    /// The conversion in the unit of the default, for a measurement.
    private let relative: RelativeConversion<Value>?
    var isRelative: Bool { relative != nil }
    /// The closed list of the declaration; empty without one.
    let choices: [TweakChoice<Value>]
    // Cached: counting an array of a generic type first makes the runtime look up that type.
    let hasChoices: Bool
    /// The cell, if it stores words.
    private let wordCell: (any WordStorage)?
    /// The cell, if it stores indices of a list.
    private let listCell: TweakChoiceCell<Value>?

    let holdsObjects: Bool

    /// - Parameter reused: A cell of a removed tweak to reuse; nil creates a new one.
    init(
        _ defaultValue: Value, choices: [TweakChoice<Value>], relative: RelativeConversion<Value>? = nil,
        cell reused: Value.TweakStorage? = nil
    ) {
        self.relative = relative
        reused?.store(defaultValue)
        cell = reused ?? Value.TweakStorage(defaultValue)
        holdsObjects = !_isPOD(Value.self) && Value.self != String.self
        wordCell = cell as? any WordStorage
        listCell = cell as? TweakChoiceCell<Value>
        self.defaultValue = defaultValue
        self.choices = choices
        hasChoices = !choices.isEmpty
    }

    func prepare(_ value: TweakValue) -> Prepared? {
        if hasChoices { return prepareChoice(value) }
        // Fast path: word values.
        if wordCell != nil, let (word, value) = Value.tweakWord(of: value) {
            return Prepared(value: value, typed: .word(word))
        }
        return prepareObject(value)
    }

    // Not inlined: generic code makes the runtime look up `Optional<Value>` at each inlined use.
    @inline(never)
    private func prepareObject(_ value: TweakValue) -> Prepared? {
        guard let value = convert(value), let typed = typed(value) else { return nil }
        return Prepared(value: relative?.erased(value) ?? value.tweakErased, typed: typed)
    }

    /// The value of this type for an untyped one; nil when there is no exact conversion.
    func convert(_ value: TweakValue) -> Value? { relative.map { $0.typed(value) } ?? Value.tweakTyped(value) }

    /// Converts a value to the form that the cell stores; nil if the cell cannot store it. Runs code of the program, so
    /// it must not be called under the registry's lock.
    func typed(_ value: Value) -> TypedValue? {
        if let listCell { return listCell.position(of: value).map { .object(value, position: $0) } }
        if wordCell != nil { return Value.tweakWord(of: value.tweakErased).map { .word($0.word) } }
        return .object(value)
    }

    @inline(never)
    private func prepareChoice(_ value: TweakValue) -> Prepared? {
        let name: String? = if case .choice(let name) = value { name } else { nil }
        guard let choice = choices.first(where: { $0.name == name }), let typed = typed(choice.value) else {
            return nil
        }
        return Prepared(value: .choice(choice.name), typed: typed)
    }

    /// Type-erases a value; with a closed list the result is the choice's name.
    func erase(_ value: Value) -> TweakValue {
        if let relative { return relative.erased(value) }
        if !hasChoices { return value.tweakErased }
        // A value that is not in the list gets a name, too, so that the error is about the list and not the kind.
        return .choice(choices.first { $0.value == value }?.name ?? value.tweakErased.choiceName)
    }

    func store(word: UInt64) { wordCell?.store(word: word) }

    func store(position: Int) { listCell?.store(position: position) }

    func store(_ object: any Sendable) -> (any Sendable)? {
        let old: (any Sendable)? = holdsObjects ? cell.load() : nil
        // The cast always succeeds: `prepare` of this core created the object.
        if let typed = object as? Value { cell.store(typed) }
        return old
    }
}
