// Stands for the module Darwin: the declarations of Apple's C library, and what Swift's overlay of it adds.

// The names are those of Apple's library, and its manuals describe them.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

@_exported public import CDarwin

public var errno: Int32 {
    get { standin_errno().pointee }
    set { standin_errno().pointee = newValue }
}

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { standin_open(path, flags, 0) }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
    standin_open(path, flags, mode)
}
public func openat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
    standin_openat(folder, path, flags, 0)
}
public func openat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
    standin_openat(folder, path, flags, mode)
}
public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { standin_fcntl(descriptor, command, 0) }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 {
    standin_fcntl(descriptor, command, Int(value))
}
public func ioctl(_ descriptor: Int32, _ request: UInt, _ pointer: UnsafeMutableRawPointer) -> Int32 {
    standin_ioctl(descriptor, request, pointer)
}

public typealias sig_t = @convention(c) (Int32) -> Void
public var SIG_DFL: sig_t? { nil }
public var SIG_IGN: sig_t { unsafeBitCast(1, to: sig_t.self) }
public var SIG_ERR: sig_t { unsafeBitCast(-1, to: sig_t.self) }

// sys/stat.h
public var S_IFMT: mode_t { 0o170000 }
public var S_IFSOCK: mode_t { 0o140000 }
public var S_IFLNK: mode_t { 0o120000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFDIR: mode_t { 0o040000 }

// Numbers whose values are not those of a constant of Linux, or that are enumerations there.
public var SOCK_STREAM: Int32 { 1 }
public var SOCK_DGRAM: Int32 { 2 }
public var SOCK_SEQPACKET: Int32 { 5 }
public var RLIMIT_NOFILE: Int32 { 7 }
public var RLIMIT_FSIZE: Int32 { 1 }
public var TIOCGWINSZ: UInt { 0x5413 }
public var CLOCK_REALTIME: clockid_t { darwin_realtime }
public var CLOCK_MONOTONIC: clockid_t { darwin_monotonic }
public var SO_NOSIGPIPE: Int32 { standin_SO_NOSIGPIPE }
public var SOL_LOCAL: Int32 { standin_SOL_LOCAL }
public var LOCAL_PEERCRED: Int32 { standin_LOCAL_PEERCRED }
public var LOCAL_PEERPID: Int32 { standin_LOCAL_PEERPID }
public var F_FULLFSYNC: Int32 { standin_F_FULLFSYNC }
/// netinet/tcp.h: TCP_KEEPIDLE of Linux.
public var TCP_KEEPALIVE: Int32 { 4 }
