// Masks the values of secrets wherever values are shown.

/// A value as clients may see it. That of a secret says only whether it is set: in texts, in JSON, and in comparisons.
package enum ShownValue: Equatable, Sendable {
    case value(TweakValue)
    /// A secret; it is set if it is neither an empty text nor zero. It is not compared with the default, which may be a
    /// secret, too: a correct guess must not be visible.
    case secret(isSet: Bool)

    package var text: String {
        switch self {
        case .value(let value): value.text
        case .secret(let isSet): isSet ? "(set)" : "(unset)"
        }
    }

    package var json: JSON { if case .value(let value) = self { value.json } else { .null } }

    /// The JSON field `value`, and for a secret `set`.
    package var fields: [(String, JSON)] {
        if case .secret(let isSet) = self { [("value", json), ("set", .bool(isSet))] } else { [("value", json)] }
    }
}

extension TweakNode {
    /// A value of this tweak as clients may see it.
    package func shown(_ value: TweakValue) -> ShownValue {
        isSecret ? .secret(isSet: value.kind.rules.isSet(value)) : .value(value)
    }

    /// Appends a value as clients may see it, as UTF-8.
    /// - Parameter value: Nil for an action.
    package func appendShown(_ value: TweakValue?, to bytes: inout [UInt8]) {
        guard let value else { return bytes.append(contentsOf: "(action)".utf8) }
        if isSecret { bytes.append(contentsOf: shown(value).text.utf8) } else { value.append(to: &bytes) }
    }
}
