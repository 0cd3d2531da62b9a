// Exports the system's C library to every module under one name.

#if canImport(Darwin)
    @_exported public import Darwin
#elseif canImport(Musl)
    @_exported public import CTweaksLinux
    @_exported public import Musl
#elseif canImport(Android)
    @_exported public import Android
    @_exported public import CTweaksLinux
#else
    @_exported public import CTweaksLinux
    @_exported public import Glibc
#endif

/// The system's message for an error number.
package func errorText(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
