// Declared tweaks of any type in one list.

/// A declared tweak, group or action of any type, to be named in a list.
///
/// Statics are lazy: a program keeps such a list beside its declarations, and hands it to what serves them.
public protocol TweakHandle: Sendable {
    /// Category, collection and name; of a group, those of its first part.
    var path: TweakPath { get }
}

extension Tweak: TweakHandle {}
extension TweakAction: TweakHandle {}
