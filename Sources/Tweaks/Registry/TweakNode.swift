// A declared tweak as the registry holds it: path, definition, default, and the cell that programs read.

import Synchronization

/// One registered tweak or action. Immutable but for its cell; what changes lives in the registry's state.
@usableFromInline
package final class TweakNode: Sendable {
    package let path: TweakPath
    package let definition: TweakDefinition
    package let source: TweakSource
    /// The paths that it had in earlier versions of the program.
    let formerly: [TweakPath]
    /// Where the registry keeps what changes.
    package let slot: Int
    /// Its place in the order of declaration.
    let sequence: UInt64
    package let declaredAt: ContinuousClock.Instant
    /// What judges, converts and holds values; nil for an action.
    let core: (any TweakValueCore)?
    /// What the code says; nil for an action.
    let defaultPrepared: Prepared?
    /// What runs; nil for a value.
    let runner: ActionRunner?
    /// Whether its values may hold objects of the program.
    let holdsObjects: Bool
    /// The address of the texts, once they were asked for; see `texts`.
    let textsAddress = Atomic<UInt>(0)
    /// What `withObservationTracking` tracks, once `observed` was read.
    let observed = AtomicLazyReference<Observed>()

    /// Value or action.
    enum Content: Sendable {
        case value(any TweakValueCore, default: Prepared)
        case action(ActionRunner)
    }

    init(
        path: TweakPath, definition: TweakDefinition, source: TweakSource, formerly: [TweakPath] = [], slot: Int,
        sequence: UInt64, declaredAt: ContinuousClock.Instant, content: Content
    ) {
        self.path = path
        self.definition = definition
        self.source = source
        self.formerly = formerly
        self.slot = slot
        self.sequence = sequence
        self.declaredAt = declaredAt
        switch content {
        case .value(let core, let prepared):
            (self.core, defaultPrepared, runner, holdsObjects) = (core, prepared, nil, core.holdsObjects)
        case .action(let runner):
            (core, defaultPrepared, self.runner, holdsObjects) = (nil, nil, runner, false)
        }
    }

    deinit { releaseTexts() }

    /// What the code says; nil for an action.
    package var defaultValue: TweakValue? { defaultPrepared?.value }

    /// Judges and converts a value; runs the program's own checks, so never under a lock.
    func prepare(
        _ value: TweakValue, policy: TweakPolicy? = nil
    ) throws(TweakError) -> (prepared: Prepared, adjustment: TweakAdjustment) {
        let judged = try definition.judge(value, for: path, policy: policy)
        guard let prepared = core?.prepare(judged.value) else {
            throw TweakError(
                .outOfRange, "\(path.token): \(definition.shown(value)) does not fit the type that the program uses",
                path: path)
        }
        return (prepared, judged.adjustment)
    }

    /// Makes a value the one that programs read. Only under the registry's lock.
    /// - Parameter released: Takes the one before, where letting go of it may run the program's code: not before the lock
    ///   is free.
    func store(_ prepared: Prepared, _ released: inout [any Sendable]) {
        guard let core else { return }
        guard let object = prepared.typed.object else { return core.store(word: prepared.typed.word) }
        if let position = object.position { return core.store(position: position) }
        if let old = core.store(object.value) { released.append(old) }
    }

}

/// Where in the program a tweak was declared.
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

/// The typed side of a node, behind a door without types.
protocol TweakValueCore: AnyObject, Sendable {
    /// Whether letting go of a value may run the program's code.
    var holdsObjects: Bool { get }
    func prepare(_ value: TweakValue) -> Prepared?
    func store(word: UInt64)
    func store(position: Int)
    /// Returns the value before, where it holds objects.
    func store(_ object: any Sendable) -> (any Sendable)?
}

/// Converts between the erased and the typed value, and owns the cell.
final class TypedCore<Value: TweakStorable>: TweakValueCore {
    let cell: Value.TweakStorage
    let defaultValue: Value
    /// The closed list, where the declaration gave one.
    let choices: [TweakChoice<Value>]
    // Kept apart: asked for its count, an array of a generic type has the runtime look up that type first.
    let hasChoices: Bool
    /// The cell again, where it takes words.
    private let wordCell: (any WordStorage)?
    /// The cell again, where it takes places in a list.
    private let listCell: TweakChoiceCell<Value>?

    let holdsObjects: Bool

    /// - Parameter spare: A cell of another tweak that is gone; nil: a new one.
    init(_ defaultValue: Value, choices: [TweakChoice<Value>], cell spare: Value.TweakStorage? = nil) {
        spare?.store(defaultValue)
        cell = spare ?? Value.TweakStorage(defaultValue)
        holdsObjects = !_isPOD(Value.self) && Value.self != String.self
        wordCell = cell as? any WordStorage
        listCell = cell as? TweakChoiceCell<Value>
        self.defaultValue = defaultValue
        self.choices = choices
        hasChoices = !choices.isEmpty
    }

    func prepare(_ value: TweakValue) -> Prepared? {
        if hasChoices { return prepareChoice(value) }
        // Words first.
        if wordCell != nil, let (word, value) = Value.tweakWord(of: value) {
            return Prepared(value: value, typed: .word(word))
        }
        return prepareObject(value)
    }

    // Apart, as are others here: generic code asks the runtime for `Optional<Value>` wherever it may need it.
    @inline(never)
    private func prepareObject(_ value: TweakValue) -> Prepared? {
        guard let value = Value.tweakTyped(value), let typed = typed(value) else { return nil }
        return Prepared(value: value.tweakErased, typed: typed)
    }

    /// A value as the cell takes it, made by the program's code: the registry's lock is not taken yet. Nil for one that
    /// the cell cannot hold.
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

    /// A typed value without its type; with a closed list that is the choice's name.
    func erase(_ value: Value) -> TweakValue {
        if !hasChoices { return value.tweakErased }
        // What is not in the list gets a name too, so that it is refused for that and not for its kind.
        return .choice(choices.first { $0.value == value }?.name ?? value.tweakErased.choiceName)
    }

    func store(word: UInt64) { wordCell?.store(word: word) }

    func store(position: Int) { listCell?.store(position: position) }

    func store(_ object: any Sendable) -> (any Sendable)? {
        let old: (any Sendable)? = holdsObjects ? cell.load() : nil
        // Always this type: `prepare` of this very core made it.
        if let typed = object as? Value { cell.store(typed) }
        return old
    }
}
