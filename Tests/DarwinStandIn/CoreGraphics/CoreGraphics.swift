// Stands for the module of Core Graphics, whose CGFloat is a value.

@_exported public import struct Foundation.CGFloat
