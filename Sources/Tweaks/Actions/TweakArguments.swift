// Holds the arguments of an action call.

/// The arguments of a call, in order and without quotes; declared arguments can also be looked up by name.
public struct TweakArguments: RandomAccessCollection, Sendable {
    struct Argument: Sendable {
        let name: String
        let text: String
        let value: TweakValue
    }

    private let texts: [String]
    /// The declared ones.
    private let declared: [Argument]
    private let path: TweakPath?

    /// Arguments from texts.
    public init(_ texts: [String]) { (self.texts, declared, path) = (texts, [], nil) }

    init(_ declared: [Argument], _ path: TweakPath) {
        (texts, self.declared, self.path) = (declared.map(\.text), declared, path)
    }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of arguments, including defaults.
    public var endIndex: Int { texts.count }
    /// The argument at a position, as typed. Traps if there is none; `first` and `dropFirst` do not.
    public subscript(position: Int) -> String { texts[position] }

    /// A declared argument, validated and converted; its default if the caller omitted it.
    ///
    /// ```swift
    /// let volume: Double = try arguments["volume"]
    /// let mode = try arguments["mode", as: Mode.self]
    /// ```
    /// - Throws: ``TweakError`` with code `internal` when the action declares no argument of this name, or one of
    ///   another type.
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
                    "\(subject)the argument \(name) is \(argument.value.kind.phrase), not a \(Value.self); "
                        + "declare it with that type", path: path)
            }
            return value
        }
    }
}
