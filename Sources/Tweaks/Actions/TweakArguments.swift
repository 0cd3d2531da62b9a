// The arguments that an action is called with.

/// The arguments of a call, in order and without quotes; those that the action declares are also found by their names.
public struct TweakArguments: RandomAccessCollection, Sendable {
    struct Argument: Sendable {
        let name: String
        let text: String
        let value: TweakValue
    }

    private let texts: [String]
    /// Those that are declared.
    private let declared: [Argument]
    private let path: TweakPath?

    /// Arguments from texts.
    public init(_ texts: [String]) { (self.texts, declared, path) = (texts, [], nil) }

    init(_ declared: [Argument], _ path: TweakPath) {
        (texts, self.declared, self.path) = (declared.map(\.text), declared, path)
    }

    /// 0.
    public var startIndex: Int { 0 }
    /// How many there are, defaults included.
    public var endIndex: Int { texts.count }
    /// The argument at a place, which must exist, as it was typed; `first` and `dropFirst` are kinder.
    public subscript(position: Int) -> String { texts[position] }

    /// A declared argument, checked and converted; its default where the caller left it out.
    ///
    /// ```swift
    /// let volume: Double = try arguments["volume"]
    /// let mode = try arguments["mode", as: Mode.self]
    /// ```
    /// - Throws: ``TweakError`` with code `internal` when the action declares no argument of this name, or one of another
    ///   type.
    public subscript<Value: TweakConvertible>(name: String, as type: Value.Type = Value.self) -> Value {
        get throws(TweakError) {
            let subject = path.map { "\($0.token): " } ?? ""
            guard let argument = declared.first(where: { $0.name == name }) else {
                throw TweakError(
                    .internal, "\(subject)there is no argument \(Quoting.excerpt(name)); declare it in arguments:",
                    path: path)
            }
            guard let value = Value(argument.value) else {
                throw TweakError(
                    .internal,
                    "\(subject)the argument \(name) is \(argument.value.kind.phrase) and no \(Value.self); declare it as one",
                    path: path)
            }
            return value
        }
    }
}
