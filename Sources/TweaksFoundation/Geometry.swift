// Makes CGFloat a number, and CGPoint and CGSize points.

public import Foundation
public import Tweaks

// The module Tweaks declares it where CoreGraphics exists.
#if !canImport(CoreGraphics)
    extension CGFloat: TweakFloatingPoint {}
#endif

/// A point, `x,y`. With a range for each number: `in: .init(x: 0...320, y: 0...200)`.
extension CGPoint: TweakPointConvertible {
    /// From a point of two doubles.
    public init(_ point: TweakPoint) { self.init(x: point.x, y: point.y) }
    /// As a point of two doubles.
    public var tweakPoint: TweakPoint { TweakPoint(x: Double(x), y: Double(y)) }
}

/// A point, `width,height`. With a range for each number: `in: .init(x: 0...320, y: 0...200)`.
extension CGSize: TweakPointConvertible {
    /// From a point, whose `x` is the width.
    public init(_ point: TweakPoint) { self.init(width: point.x, height: point.y) }
    /// As a point, whose `x` is the width.
    public var tweakPoint: TweakPoint { TweakPoint(x: Double(width), y: Double(height)) }
}
