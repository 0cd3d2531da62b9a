// Defines the events of the poller, and errors of system calls.

import TweaksSystem

/// The events that a descriptor is polled for.
struct PollInterest: OptionSet, Equatable {
    let rawValue: UInt8
    static let read = PollInterest(rawValue: 1)
    static let write = PollInterest(rawValue: 2)
}

/// A descriptor that became ready.
struct PollEvent {
    let descriptor: Int32
    let isReadable: Bool
    let isWritable: Bool
    /// Both directions are closed, or the connection broke.
    let isGone: Bool
}

/// A system call that failed.
struct SocketError: Error, Equatable, CustomStringConvertible {
    let call: String
    let code: Int32

    /// Creates the error from `errno`.
    init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    var description: String { "\(call): \(errorText(code))" }
}
