// Opens sessions for callers that the program has authenticated: a pair of sockets in place of a listener.

import Dispatch
import Synchronization
package import Tweaks
import TweaksSystem

/// A session that the program opens for one of its own callers.
package struct ServerCall: Sendable {
    /// A user that the program has authenticated, and what they may do.
    package struct Caller: Sendable {
        /// The program's name of the caller.
        package let name: String
        package let scopes: [TweakScope]

        package init(name: String, scopes: [TweakScope]) { (self.name, self.scopes) = (name, scopes) }
    }

    /// What the session speaks.
    package struct Dialect: Sendable {
        /// Creates the dialect, on the I/O thread; it has the caller's request already.
        let make: @Sendable (EndpointAddress) -> any SessionDialect
        /// The bytes for a caller that is refused.
        let refusal: @Sendable (TweakError) -> [UInt8]

        package init(
            make: @escaping @Sendable (EndpointAddress) -> any SessionDialect,
            refusal: @escaping @Sendable (TweakError) -> [UInt8]
        ) { (self.make, self.refusal) = (make, refusal) }
    }

    let caller: Caller
    let dialect: Dialect
    let descriptor: Descriptor

    /// Creates a connection: the server's end, and the caller's.
    static func pair(
        _ caller: Caller, _ dialect: Dialect, _ kernel: Kernel
    ) throws(TweakError) -> (ServerCall, CallStream) {
        guard let (server, own) = Platform.makePair() else {
            throw TweakError(
                .tooMany, "this process has no descriptors left; close something and try again", limit: .descriptors)
        }
        let call = ServerCall(caller: caller, dialect: dialect, descriptor: Descriptor(server, kernel))
        return (call, CallStream(Descriptor(own)))
    }
}

/// What has a server behind it.
package protocol ServerHolder {
    var server: TweakServer { get }
}

extension EventLoop {
    /// Opens the session of a caller, and begins its request.
    func open(_ call: ServerCall) {
        let id = SessionID(number: sessions.makeNumber(), descriptor: call.descriptor.number)
        let place = EndpointAddress(
            port: 0, address: nil, instance: executor.identity.instance, readiness: readiness)
        let session = Session(
            id: id, descriptor: call.descriptor, peer: Peer(caller: call.caller.name), isDenied: false, now: now,
            dialect: call.dialect.make(place))
        session.grants.add(call.caller.scopes, from: .peer)
        executor.identify(session)
        if isStopping {
            return reject(session, TweakError(.closing, "the process is shutting down"), call.dialect.refusal)
        }
        open(session, wantsToken: false, refusal: call.dialect.refusal)
        guard self.session(id) != nil else { return }
        session.input.mayHaveMore = true
        advance(session)
    }
}

/// The bytes that a session sends to a caller of the program, at the speed at which they are read. The session ends when
/// this is released, and when a task that reads is canceled.
package final class CallStream: Sendable {
    /// Nil once it has ended.
    private let descriptor: Mutex<Descriptor?>

    init(_ descriptor: Descriptor) { self.descriptor = Mutex(descriptor) }

    /// The most bytes of one read.
    private static let most = 16_384

    /// Waits for the next bytes; nil at the end, and in a canceled task. For one reader at a time.
    package func read() async -> [UInt8]? {
        while let descriptor = descriptor.withLock({ $0 }), !Task.isCancelled {
            var result = Descriptor.Transfer.wouldBlock
            let bytes = withUnsafeTemporaryAllocation(byteCount: Self.most, alignment: 1) { buffer -> [UInt8] in
                result = descriptor.read(into: buffer)
                if case .bytes(let count) = result { return Array(buffer[..<count]) }
                return []
            }
            switch result {
            case .bytes: return bytes
            case .wouldBlock: await Self.wait(for: descriptor)
            case .endOfInput, .failed: end()
            }
        }
        end()
        return nil
    }

    /// Ends the session.
    private func end() { descriptor.withLock { $0 = nil } }

    /// Returns when there is something to read, or the task is canceled. Only one that waits has a source: while bytes
    /// are ready, the reader's demand decides.
    private static func wait(for descriptor: Descriptor) async {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor.number, queue: .global())
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                source.setEventHandler { source.cancel() }
                // The descriptor stays open until the kernel no longer watches it.
                source.setCancelHandler { withExtendedLifetime(descriptor) { continuation.resume() } }
                source.activate()
            }
        } onCancel: {
            // Ends the session, and makes the descriptor readable, now or once it is watched.
            shutdown(descriptor.number, Int32(SHUT_RDWR))
        }
    }
}
