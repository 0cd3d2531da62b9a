// Exports Foundation without the C library of Linux, which Foundation exports there, and with that of the stand-in.

@_exported public import DarwinStandIn
@_exported public import class Foundation.Bundle
@_exported public import class Foundation.FileHandle
@_exported public import class Foundation.FileManager
@_exported public import class Foundation.JSONDecoder
@_exported public import class Foundation.JSONEncoder
@_exported public import class Foundation.JSONSerialization
@_exported public import class Foundation.NSCondition
@_exported public import class Foundation.NSNumber
@_exported public import class Foundation.NSRegularExpression
@_exported public import class Foundation.Pipe
@_exported public import class Foundation.Process
@_exported public import class Foundation.ProcessInfo
@_exported public import class Foundation.Thread
@_exported public import struct Foundation.Data
@_exported public import struct Foundation.Date
@_exported public import struct Foundation.URL
@_exported public import class Foundation.NSLock
@_exported public import class Foundation.Host
