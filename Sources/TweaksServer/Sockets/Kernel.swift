// Wraps the socket system calls that can fail or fall short, so that tests can inject faults.

import TweaksSystem

/// A system call on a socket or a poller.
package enum SystemCall: String, CaseIterable, Sendable {
    case receive, send, shutdown, accept
    /// Watch a descriptor, or change its interest.
    case watch
    case wait
}

/// Intercepts system calls, to provoke failures that are hard to reproduce.
package protocol FaultInjector: AnyObject, Sendable {
    /// Makes a call, fails it, or shortens it. Called on the I/O thread.
    /// - Parameters:
    ///   - call: The system call.
    ///   - descriptor: Its descriptor.
    ///   - count: The maximum number of bytes or events; 0 for other calls.
    ///   - body: Makes the call with a given maximum.
    /// - Returns: The result of the system call, or the negative number of an error.
    func make(_ call: SystemCall, on descriptor: Int32, count: Int, _ body: (Int) -> Int) -> Int
}

/// Makes system calls, through a fault injector if there is one.
struct Kernel: Sendable {
    var faults: (any FaultInjector)?

    /// Makes a call.
    /// - Returns: Its result, or the negative number of an error.
    func make(_ call: SystemCall, on descriptor: Int32, count: Int = 0, _ body: (Int) -> Int) -> Int {
        guard let faults else { return Self.result(body(count)) }
        return faults.make(call, on: descriptor, count: count) { Self.result(body($0)) }
    }

    private static func result(_ value: Int) -> Int { value < 0 ? -Int(errno) : value }
}
