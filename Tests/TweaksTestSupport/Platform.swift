// Wraps socket calls under names that collide neither with the C libraries nor with our own methods.

#if canImport(Darwin)
    import Darwin
    let (streamType, datagramType, sendFlags) = (SOCK_STREAM, SOCK_DGRAM, Int32(0))
    let packetType = SOCK_SEQPACKET
#elseif canImport(Musl)
    import Musl
    let (streamType, datagramType, sendFlags) = (SOCK_STREAM, SOCK_DGRAM, Int32(MSG_NOSIGNAL))
    let packetType = SOCK_SEQPACKET
#else
    import Glibc
    let (streamType, datagramType) = (Int32(SOCK_STREAM.rawValue), Int32(SOCK_DGRAM.rawValue))
    let packetType = Int32(SOCK_SEQPACKET.rawValue)
    let sendFlags = Int32(MSG_NOSIGNAL)
#endif

/// socket(2) with close-on-exec, set atomically where the system can, so that processes of other tests do not inherit
/// it.
func makeSocket(_ family: Int32, _ type: Int32 = streamType) -> Int32 {
    #if canImport(Darwin)
        let number = socket(family, type, 0)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        return number
    #elseif canImport(Musl)
        socket(family, type | SOCK_CLOEXEC, 0)
    #else
        socket(family, type | Int32(SOCK_CLOEXEC.rawValue), 0)
    #endif
}

/// Sets the timeout of recv(2) and accept(2).
func setReceiveTimeout(_ number: Int32, milliseconds: Int32) {
    var timeout = timeval()
    timeout.tv_sec = .init(milliseconds / 1_000)
    setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
}

/// Repeats a system call that a signal has interrupted: the tests themselves send and handle signals.
package func uninterrupted<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

/// close(2)
func systemClose(_ number: Int32) -> Int32 { close(number) }

/// send(2)
func systemSend(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(number, bytes, count, flags)
}

/// Turns a socket option on.
func setOption(_ number: Int32, _ level: Int32, _ name: Int32) {
    var on: Int32 = 1
    setsockopt(number, level, name, &on, socklen_t(MemoryLayout<Int32>.size))
}

/// Sets the limit of open descriptors of this process.
package func lowerDescriptorLimit(to count: Int) { setDescriptorLimit { $0.rlim_cur = .init(count) } }

/// Raises the limit of open descriptors and returns it. Tests with a thousand clients exceed the usual soft limit.
package func raiseDescriptorLimit() -> Int { setDescriptorLimit { $0.rlim_cur = min($0.rlim_max, 20_000) } }

@discardableResult
private func setDescriptorLimit(_ change: (inout rlimit) -> Void) -> Int {
    var limits = rlimit()
    #if canImport(Glibc)
        let resource = RLIMIT_NOFILE.rawValue
    #else
        let resource = RLIMIT_NOFILE
    #endif
    getrlimit(.init(resource), &limits)
    change(&limits)
    setrlimit(.init(resource), &limits)
    getrlimit(.init(resource), &limits)
    return Int(limits.rlim_cur)
}

/// read(2)
func systemRead(_ number: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int { read(number, bytes, count) }
