// The socket calls under names that neither the C libraries nor our own methods take.

#if canImport(Darwin)
    import Darwin
    let (streamType, datagramType, sendFlags) = (SOCK_STREAM, SOCK_DGRAM, Int32(0))
#elseif canImport(Musl)
    import Musl
    let (streamType, datagramType, sendFlags) = (SOCK_STREAM, SOCK_DGRAM, Int32(MSG_NOSIGNAL))
#else
    import Glibc
    let (streamType, datagramType) = (Int32(SOCK_STREAM.rawValue), Int32(SOCK_DGRAM.rawValue))
    let sendFlags = Int32(MSG_NOSIGNAL)
#endif

/// socket(2); programs that other tests start at this moment do not get it, where the system can do that.
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

/// close(2)
func systemClose(_ number: Int32) -> Int32 { close(number) }

/// send(2)
func systemSend(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(number, bytes, count, flags)
}

/// setsockopt(2) for an option that is on or off
func setOption(_ number: Int32, _ level: Int32, _ name: Int32) {
    var on: Int32 = 1
    setsockopt(number, level, name, &on, socklen_t(MemoryLayout<Int32>.size))
}

/// Leaves this process so many descriptors.
package func lowerDescriptorLimit(to count: Int) {
    var limits = rlimit()
    #if canImport(Glibc)
        let resource = RLIMIT_NOFILE.rawValue
    #else
        let resource = RLIMIT_NOFILE
    #endif
    getrlimit(.init(resource), &limits)
    limits.rlim_cur = .init(count)
    setrlimit(.init(resource), &limits)
}

/// How many descriptors a process may have. The tests with a thousand clients need more than the usual soft limit.
package func raiseDescriptorLimit() -> Int {
    var limits = rlimit()
    #if canImport(Glibc)
        let resource = RLIMIT_NOFILE.rawValue
    #else
        let resource = RLIMIT_NOFILE
    #endif
    getrlimit(.init(resource), &limits)
    limits.rlim_cur = min(limits.rlim_max, 20_000)
    setrlimit(.init(resource), &limits)
    getrlimit(.init(resource), &limits)
    return Int(limits.rlim_cur)
}

/// read(2)
func systemRead(_ number: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int { read(number, bytes, count) }
