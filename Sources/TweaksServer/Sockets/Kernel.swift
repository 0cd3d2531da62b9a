// The system calls on sockets that can fail or fall short, and who may stand between them and the server.

import TweaksSystem

/// A call on a socket or a poller.
package enum SystemCall: String, CaseIterable, Sendable {
    case receive, send, shutdown, accept
    /// A descriptor is watched from now on, or for something else.
    case watch
    case wait
}

/// Stands between a server and the kernel, to have calls fail that never do so when one waits for it.
package protocol SystemFaults: AnyObject, Sendable {
    /// Makes a call, or has it fail, or makes less of it. Called on the I/O thread.
    /// - Parameters:
    ///   - call: What is called.
    ///   - descriptor: On what.
    ///   - count: How many bytes or events at most; 0 for other calls.
    ///   - body: Makes the call with so many at most.
    /// - Returns: As `body` does: what the system said, or the negative number of an error.
    func make(_ call: SystemCall, on descriptor: Int32, count: Int, _ body: (Int) -> Int) -> Int
}

/// The way to the system: straight, unless somebody stands in it.
struct Kernel: Sendable {
    var faults: (any SystemFaults)?

    /// Makes a call.
    /// - Returns: What it returned, or the negative number of an error.
    func make(_ call: SystemCall, on descriptor: Int32, count: Int = 0, _ body: (Int) -> Int) -> Int {
        guard let faults else { return Self.result(body(count)) }
        return faults.make(call, on: descriptor, count: count) { Self.result(body($0)) }
    }

    private static func result(_ value: Int) -> Int { value < 0 ? -Int(errno) : value }
}
