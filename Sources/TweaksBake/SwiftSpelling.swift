// Writes a value in the place of a literal, in the style of that literal.

import Tweaks

/// The edits that give a literal another value.
struct SwiftSpelling {
    let source: SwiftSource
    /// The type that the value has besides the literal; empty if it is not known here, and nil if the literal tells it.
    let type: String?

    /// The spelling of what is in an optional or a list.
    private var inner: SwiftSpelling { SwiftSpelling(source: source, type: type.map { Self.wrapped($0) ?? "" }) }

    /// `Int` of `Int?` and of `[Int]`.
    private static func wrapped(_ type: String) -> String? {
        if type.hasSuffix("?") { return String(type.dropLast()) }
        if type.hasPrefix("["), type.hasSuffix("]") { return String(type.dropFirst().dropLast()) }
        for name in ["Optional<", "Array<"] where type.hasPrefix(name) && type.hasSuffix(">") {
            return String(type.dropFirst(name.utf8.count).dropLast())
        }
        return nil
    }

    /// - Throws: The reason why the value cannot be written in this form.
    func edits(
        _ literal: SwiftLiteral, to value: TweakValue, _ shape: ValueShape
    ) throws(BakeRefusal) -> [SourceEdit] {
        if literal.equals(value, shape) { return [] }
        switch (shape.kind, value) {
        case (.bool, .bool(let flag)): return [SourceEdit(range: literal.range, text: flag ? "true" : "false")]
        case (.int, _), (.number, _): return try number(literal.unwrapped, value)
        case (.string, .string(let text)): return try self.text(literal.unwrapped, text)
        case (.choice, .choice(let name)): return try choice(literal, name)
        case (.color, .color(let color)): return try ColorSpelling(source: source).edits(literal, to: color)
        case (.duration, .duration(let duration)): return try self.duration(literal, duration)
        case (.point, .point(let point)): return try self.point(literal, point)
        case (.curve, .curve(let curve)): return try CurveSpelling.edits(literal, to: curve, self)
        case (.list, .list(let values)): return try list(literal, values, shape)
        case (.optional, .notSet):
            // `Optional(5)` alone tells the type.
            if case .call(let call) = literal, type == nil, (call.type + [call.name]).contains("Optional") {
                throw Self.unknownForm
            }
            return [SourceEdit(range: literal.range, text: "nil")]
        case (.optional, _):
            guard let shape = shape.inner else { throw Self.unknownForm }
            if literal.isNone { return [SourceEdit(range: literal.range, text: try inner.fresh(value))] }
            return try inner.edits(literal, to: value, shape)
        default: throw Self.unknownForm
        }
    }

    static let unknownForm = BakeRefusal("is written in a form that cannot take this value; write it by hand")

    /// The types that take the texts of values. Others have initializers that are not known.
    private static let plainTypes: Set = [
        "Bool", "String", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
        "Double", "Float", "CGFloat", "Duration", "TweakColor", "TweakPoint", "TweakCurve",
    ]

    /// A value without a literal whose style it could have.
    private func fresh(_ value: TweakValue) throws(BakeRefusal) -> String {
        guard let type, Self.plainTypes.contains(type) else { throw Self.unknownForm }
        return try Self.text(value)
    }

    /// The text of a value for one of these types.
    static func text(_ value: TweakValue) throws(BakeRefusal) -> String {
        switch value {
        case .bool, .int, .unsigned: return value.text
        case .number(let number): return number.description
        case .string(let text): return SwiftString.quoted(text)
        case .color(let color): return ColorSpelling.fresh(color)
        case .duration(let duration):
            guard let text = DurationSpelling.fresh(duration) else { throw unknownForm }
            return text
        case .point(let point): return "TweakPoint(x: \(point.x), y: \(point.y))"
        case .curve(let curve): return CurveSpelling.fresh(curve)
        case .choice, .list, .notSet: throw unknownForm
        }
    }

    // MARK: Numbers and texts

    private func number(_ literal: SwiftLiteral, _ value: TweakValue) throws(BakeRefusal) -> [SourceEdit] {
        guard case .number(let number, let range) = literal, let text = number.spelling(of: value) else {
            throw Self.unknownForm
        }
        return [SourceEdit(range: range, text: text)]
    }

    private func text(_ literal: SwiftLiteral, _ text: String) throws(BakeRefusal) -> [SourceEdit] {
        guard case .string(_, let shape, let range) = literal else { throw Self.unknownForm }
        let last = bytesBeforeEnd(of: range)
        let text = SwiftString.literal(
            text, like: shape, indentation: source.indentation(at: last), lineEnd: source.lineEnd)
        return [SourceEdit(range: range, text: text)]
    }

    private func bytesBeforeEnd(of range: Range<Int>) -> Int { max(range.lowerBound, range.upperBound - 1) }

    // MARK: Choices

    private func choice(_ literal: SwiftLiteral, _ name: String) throws(BakeRefusal) -> [SourceEdit] {
        if literal.color != nil || literal.duration != nil {
            let kind: TweakKind = literal.color != nil ? .color : .duration
            guard let value = kind.rules.parse(name, of: nil) else { throw Self.unknownForm }
            return try edits(literal, to: value, ValueShape(kind: kind))
        }
        let literal = literal.unwrapped
        switch literal {
        case .string: return try text(literal, name)
        case .bool(_, let range) where ["true", "false"].contains(name): return [SourceEdit(range: range, text: name)]
        case .number(let number, _):
            let kind: TweakKind = number.isReal ? .number : .int
            guard let value = kind.rules.parse(name, of: nil) else { throw Self.unknownForm }
            return try self.number(literal, value)
        case .enumCase(let cases, let type, _, let range):
            guard let found = cases.name(of: name) else {
                throw BakeRefusal(
                    "has the value \(Quoting.excerpt(name)), which no case of \(cases.type) has; \(BakeRefusal.rebuild)"
                )
            }
            return [SourceEdit(range: range, text: (type + [try Self.caseName(found, of: name)]).dotted)]
        case .member(let type, _, let range):
            return [SourceEdit(range: range, text: (type + [try Self.caseName(name, of: name)]).dotted)]
        default: throw Self.unknownForm
        }
    }

    /// A case as it is written after a point. Even in backticks, `self` and `Type` are no cases there.
    private static func caseName(_ name: String, of value: String) throws(BakeRefusal) -> String {
        // The name comes from the process: it must not be other code, nor look like another name.
        let first = name.unicodeScalars.first
        let isName =
            first.map { $0.properties.isXIDStart || $0 == "_" } ?? false
            && name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue } && Quoting.isSafe(name)
        guard isName, !["init", "self", "Type", "Protocol"].contains(name) else {
            throw BakeRefusal(
                "has the value \(Quoting.excerpt(value)), and the case of this raw value is not declared in the file, or "
                    + "not by a plain name; write it by hand")
        }
        return name
    }

    // MARK: Durations and points

    private func duration(_ literal: SwiftLiteral, _ duration: Duration) throws(BakeRefusal) -> [SourceEdit] {
        guard let text = DurationSpelling(literal)?.text(of: duration) else { throw Self.unknownForm }
        return [SourceEdit(range: literal.range, text: text)]
    }

    private func point(_ literal: SwiftLiteral, _ point: TweakPoint) throws(BakeRefusal) -> [SourceEdit] {
        if let (x, y) = literal.pointNumbers {
            let number = ValueShape(kind: .number)
            return try edits(x, to: .number(point.x), number) + edits(y, to: .number(point.y), number)
        }
        guard case .member(let type, "zero", let range) = literal else { throw Self.unknownForm }
        let typeName = type.last ?? self.type ?? ""
        // Other types of two numbers have initializers that are not known.
        guard ["TweakPoint", "CGPoint", "CGSize"].contains(typeName) else { throw Self.unknownForm }
        let labels = typeName == "CGSize" ? ("width", "height") : ("x", "y")
        let name = type.isEmpty ? ".init" : type.joined(separator: ".")
        let (x, y) = (TweakValue.shortest(point.x), TweakValue.shortest(point.y))
        return [SourceEdit(range: range, text: "\(name)(\(labels.0): \(x), \(labels.1): \(y))")]
    }

    // MARK: Lists

    private func list(
        _ literal: SwiftLiteral, _ values: [TweakValue], _ shape: ValueShape
    ) throws(BakeRefusal) -> [SourceEdit] {
        guard case .list(let elements, let hasComments, let range) = literal, let shape = shape.inner else {
            throw Self.unknownForm
        }
        if elements.count == values.count {
            var result: [SourceEdit] = []
            for (element, value) in zip(elements, values) { result += try inner.edits(element, to: value, shape) }
            return result
        }
        if hasComments {
            throw BakeRefusal("has comments in its list, and another number of values; write them by hand")
        }
        if values.isEmpty { return [SourceEdit(range: range, text: try emptyList(elements))] }
        if elements.isEmpty { return [SourceEdit(range: range, text: try fill(range, values))] }
        // One real number makes a list of whole ones a list of `Double`.
        let real = elements.first(where: \.isReal)
        var texts: [String] = []
        for (position, value) in values.enumerated() {
            let model = real ?? elements[min(position, elements.count - 1)]
            texts.append(try inner.element(value, like: model, shape))
        }
        return [SourceEdit(range: range, text: layout(texts, like: elements, range))]
    }

    /// The list in the place of `[]` or `[Int]()`. Without a type beside it, its literals have to be of that type.
    private func fill(_ range: Range<Int>, _ values: [TweakValue]) throws(BakeRefusal) -> String {
        var spelling = inner
        let written = source.text(range).filter { !$0.isWhitespace }
        if written.hasSuffix("]()") {
            let name = String(written.dropFirst().dropLast(3))
            let isPlain = ["Bool", "String", "Int", "Double", "TweakColor", "TweakPoint", "TweakCurve"].contains(name)
            spelling = SwiftSpelling(source: source, type: type != nil || isPlain ? name : nil)
        }
        var texts: [String] = []
        for value in values { texts.append(try spelling.fresh(value)) }
        return "[" + texts.joined(separator: ", ") + "]"
    }

    /// `[]`, or `[Int]()` where the elements alone tell the type.
    private func emptyList(_ elements: [SwiftLiteral]) throws(BakeRefusal) -> String {
        guard type == nil, let first = elements.first else { return "[]" }
        switch first {
        case .bool: return "[Bool]()"
        case .number: return elements.contains(where: \.isReal) ? "[Double]()" : "[Int]()"
        case .string: return "[String]()"
        case .member(let type, _, _), .enumCase(_, let type, _, _):
            return type.isEmpty ? "[]" : "[\(type.joined(separator: "."))]()"
        case .call(let call):
            if source.bytes[call.nameRange.lowerBound] == UInt8(ascii: ".") { return "[]" }
            // A duration or steps are made by a static function of the type.
            let isMember = first.duration != nil || first.curve != nil && call.name == "steps"
            let names = isMember ? call.type : call.type + [call.name]
            return "[\(names.joined(separator: "."))]()"
        case .none, .list: throw Self.unknownForm
        }
    }

    /// A value in the style of an element that stood in its place.
    private func element(
        _ value: TweakValue, like element: SwiftLiteral, _ shape: ValueShape
    ) throws(BakeRefusal) -> String {
        let start = element.range.lowerBound
        let edits = try edits(element, to: value, shape).map { edit in
            let range = edit.range
            return SourceEdit(range: range.lowerBound - start..<range.upperBound - start, text: edit.text)
        }
        guard let bytes = SourceEdit.apply(edits, to: Array(source.bytes[element.range])) else {
            throw Self.unknownForm
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The list with one element a line, if it was written so.
    private func layout(_ texts: [String], like elements: [SwiftLiteral], _ range: Range<Int>) -> String {
        guard let first = elements.first, let last = elements.last, !texts.isEmpty,
            source.bytes[range.lowerBound..<first.range.lowerBound].contains(where: \.isLineEnd)
        else { return "[" + texts.joined(separator: ", ") + "]" }
        let margin = source.lineEnd + String(decoding: source.indentation(at: first.range.lowerBound), as: UTF8.self)
        let end = source.lineEnd + String(decoding: source.indentation(at: range.upperBound - 1), as: UTF8.self)
        let isEnded = source.bytes[last.range.upperBound..<range.upperBound].contains(UInt8(ascii: ","))
        return "[" + margin + texts.joined(separator: "," + margin) + (isEnded ? "," : "") + end + "]"
    }
}

extension [String] {
    /// The names as a member: `.left`, `Alignment.left`.
    var dotted: String { count == 1 ? "." + self[0] : joined(separator: ".") }
}

extension SwiftNumber {
    /// A value in the style of this number; nil if it is no number.
    func spelling(of value: TweakValue) -> String? {
        switch value {
        case .int(let value): whole(value.magnitude, isNegative: value < 0)
        case .unsigned(let value): whole(value, isNegative: false)
        case .number(let value): real(value)
        default: nil
        }
    }

    private func real(_ value: Double) -> String {
        // Without a point, a literal of a property or an argument could become another type.
        if !isReal, let count = Int64(exactly: value), count.magnitude < 1 << 53 {
            return whole(count.magnitude, isNegative: count < 0)
        }
        let text = value.magnitude.description
        let digits = text.prefix { $0 != "." && $0 != "e" }
        return (value.sign == .minus ? "-" : "") + grouped(String(digits), by: groupSize) + text.dropFirst(digits.count)
    }

    private func whole(_ value: UInt64, isNegative: Bool) -> String {
        let prefix = radix == 10 ? "" : String(text.prefix(2))
        let old = integerPart.dropFirst(prefix.count)
        let isUppercase = !old.contains { ("a"..."f").contains($0) }
        var digits = String(value, radix: radix, uppercase: isUppercase)
        if radix != 10, old.first == "0" {
            let width = old.count { $0 != "_" }
            digits = String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return (isNegative ? "-" : "") + prefix + grouped(digits, by: groupSize)
    }

    /// The digits before a point or an exponent.
    private var integerPart: Substring {
        radix == 16 ? text.prefix { $0 != "." && $0 != "p" } : text.prefix { $0 != "." && $0 != "e" && $0 != "E" }
    }

    /// The number of digits after the last separator; 0 without one.
    private var groupSize: Int {
        integerPart.lastIndex(of: "_").map { integerPart[$0...].count - 1 } ?? 0
    }

    private func grouped(_ digits: String, by size: Int) -> String {
        guard size > 0 else { return digits }
        var result = ""
        for (position, digit) in digits.enumerated() {
            let left = digits.count - position
            if position > 0, left.isMultiple(of: size) { result += "_" }
            result.append(digit)
        }
        return result
    }
}
