// Conforms CGFloat on Apple platforms, where CoreGraphics defines it. Elsewhere a program writes this line itself.

#if canImport(CoreGraphics)
    public import CoreGraphics

    extension CGFloat: TweakFloatingPoint {}
#endif
