// CGFloat where it is not Foundation's: on Apple's systems. Elsewhere a program writes this line itself.

#if canImport(CoreGraphics)
    public import CoreGraphics

    extension CGFloat: TweakFloatingPoint {}
#endif
