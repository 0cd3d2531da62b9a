// Declares an enumeration that belongs to another module than the tests.

/// An enumeration of a module that does not import Tweaks.
public enum ForeignCase: String, CaseIterable, Sendable {
    case odd, even
}
