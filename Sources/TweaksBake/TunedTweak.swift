// Reads what a process says about a tweak that was set: its value, its default, its limits and its declaration.

package import Tweaks

/// A tweak whose override is to become its default.
package struct TunedTweak: Sendable {
    package let path: TweakPath
    package let place: SourcePlace
    package let value: TweakValue
    let standard: TweakValue
    let shape: ValueShape
    private let lower: TweakValue?
    private let upper: TweakValue?
    private let choices: [String]
    private let lengths: ClosedRange<UInt64>

    /// - Parameter json: The answer of the process to `describe`.
    /// - Throws: The reason why nothing can be written for it.
    package init(_ json: JSON) throws(BakeRefusal) {
        guard let path = json["path"]?.string.flatMap({ try? TweakPath($0) }),
            let kind = json["kind"]?.string.flatMap(TweakKind.init(rawValue:))
        else { throw BakeRefusal("is described in a way that this version does not know; update tweakctl") }
        guard let place = json["source"]?.string.flatMap(SourcePlace.init) else {
            throw BakeRefusal("has no Swift file as its source; write the value by hand")
        }
        let component = json["of"]?.string.flatMap(TweakKind.init(rawValue:))
        func read(_ name: String, _ kind: TweakKind) -> TweakValue? {
            json[name].flatMap { kind.rules.value($0, of: component) }
        }
        // A preview may show another value than the one that is set.
        guard let value = read("settled", kind) ?? read("value", kind), let standard = read("default", kind) else {
            throw BakeRefusal("has a value that this version does not know; update tweakctl")
        }
        let bounded = component ?? kind
        self.path = path
        self.place = place
        self.value = value
        self.standard = standard
        shape = ValueShape(kind: kind, component: component)
        lower = read("min", bounded)
        upper = read("max", bounded)
        choices = json["choices"]?.elements.compactMap { $0["name"]?.string } ?? []
        let least = json["minLength"]?.wholeNumber ?? 0
        lengths = least...max(least, json["maxLength"]?.wholeNumber ?? .max)
    }

    /// Checks the value as a default: one outside of its own limits would stop the program when it starts.
    func check() throws(BakeRefusal) {
        let values = if case .list(let values) = value { values } else { [value] }
        for value in values where value != .notSet {
            if case .choice(let name) = value, !choices.contains(name) {
                throw BakeRefusal("has the value \(value.text), which is none of its choices; add it there first")
            }
            guard Self.isOrdered(lower, value), Self.isOrdered(value, upper) else {
                let range = "\(lower?.text ?? "")...\(upper?.text ?? "")"
                throw BakeRefusal("has the value \(value.text), which is outside \(range); change the range first")
            }
        }
        let count: UInt64? =
            switch value {
            case .string(let text): UInt64(text.count)
            case .list(let values): UInt64(values.count)
            default: nil
            }
        if let count, !lengths.contains(count) {
            throw BakeRefusal("has a value of the length \(count), which its declaration excludes; change that first")
        }
    }

    private static func isOrdered(_ low: TweakValue?, _ high: TweakValue?) -> Bool {
        guard let low, let high else { return true }
        switch (low, high) {
        case (.number(let low), .number(let high)): return low <= high
        case (.point(let low), .point(let high)): return low.x <= high.x && low.y <= high.y
        default:
            guard let low = low.whole, let high = high.whole else { return true }
            return low <= high
        }
    }

    /// Checks that a range in the source, as far as it is written out, is that of the process.
    func check(_ range: Range<Int>, _ reader: SwiftReader) throws(BakeRefusal) {
        guard let dots = range.first(where: { reader.isSymbol("...", at: $0) }) else { return }
        let shape = self.shape.inner ?? self.shape
        for (tokens, bound) in [(range.lowerBound..<dots, lower), (dots + 1..<range.upperBound, upper)] {
            guard !tokens.isEmpty, let bound, let literal = LiteralReader(reader).literal(tokens),
                literal.value(shape) != nil
            else { continue }
            if !literal.equals(bound, shape) {
                throw BakeRefusal("has another range there than in the process; \(BakeRefusal.rebuild)")
            }
        }
    }
}
