// Stores the current value of a tweak: in an atomic word if it fits, behind a lock if it does not.

public import Synchronization

/// Holds the current value of one tweak; a program's hot path only reads it.
public protocol TweakCell<Value>: AnyObject, Sendable {
    /// The type of the value.
    associatedtype Value: TweakStorable
    /// A cell that holds `value`.
    init(_ value: Value)
    /// The current value. Safe on any thread.
    func load() -> Value
    /// Replaces the value. Only the registry calls this. For cells defined outside this library it holds its lock, so
    /// such a cell must not use a registry here or in ``load()``.
    func store(_ value: Value)
}

/// A value that fits one 64-bit word.
public protocol TweakWord {
    /// The word for this value.
    var tweakWord: UInt64 { get }
    /// The value for a word made by ``tweakWord``.
    init(tweakWord: UInt64)
}

/// A cell that stores a raw word, independent of its value's type.
protocol WordStorage: AnyObject, Sendable {
    func store(word: UInt64)
}

/// A cell for values of one word: a read is one atomic load.
public final class TweakWordCell<Value: TweakStorable & TweakWord>: TweakCell, WordStorage {
    @usableFromInline let word: Atomic<UInt64>

    /// A cell that holds `value`.
    public init(_ value: Value) { word = Atomic(value.tweakWord) }

    /// The current value.
    @inlinable
    public func load() -> Value { Value(tweakWord: word.load(ordering: .acquiring)) }

    /// Replaces the value.
    public func store(_ value: Value) { store(word: value.tweakWord) }

    func store(word: UInt64) { self.word.store(word, ordering: .releasing) }
}

/// A cell for an enumeration: the word is an index into a stored list, because `allCases` may allocate.
public final class TweakChoiceCell<Value: TweakStorable>: TweakCell {
    @usableFromInline let cases: [Value]
    @usableFromInline let index: Atomic<Int>

    /// A cell that holds `value`, which must be one of the type's cases.
    public init(_ value: Value) {
        cases = Value.tweakChoices.map(\.value)
        guard let position = cases.firstIndex(of: value) else {
            fatalError("Tweaks: \(value) is not in allCases of \(Value.self); list every case there")
        }
        index = Atomic(position)
    }

    /// The current value.
    @inlinable
    public func load() -> Value { cases[index.load(ordering: .acquiring)] }

    /// Replaces the value; one that is not in the list changes nothing.
    public func store(_ value: Value) { if let position = position(of: value) { store(position: position) } }

    /// The index of a value in the list. Runs the program's code: its `==`.
    func position(of value: Value) -> Int? { cases.firstIndex(of: value) }

    /// Replaces the value by the one at a position.
    func store(position: Int) { index.store(position, ordering: .releasing) }
}

/// A cell for everything larger than a word, strings above all: a read takes a short lock and a retain.
public final class TweakLockedCell<Value: TweakStorable>: TweakCell {
    @usableFromInline let value: Mutex<Value>

    /// A cell that holds `value`.
    public init(_ value: Value) { self.value = Mutex(value) }

    /// The current value.
    @inlinable
    public func load() -> Value { value.withLock { $0 } }

    /// Replaces the value.
    public func store(_ value: Value) {
        // The old value is released after the lock: its deinit may run the program's code.
        var value = value
        self.value.withLock { swap(&$0, &value) }
    }
}
