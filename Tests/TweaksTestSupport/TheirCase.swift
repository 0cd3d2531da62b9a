// An enumeration that is not the test's own.

/// Another module's enumeration, which does not know of tweaks.
public enum TheirCase: String, CaseIterable, Sendable {
    case odd, even
}
