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
    /// - Parameter place: Kept as long as the caller's end.
    static func pair(
        _ caller: Caller, _ dialect: Dialect, _ place: CallPlaces.Place?, _ kernel: Kernel
    ) throws(TweakError) -> (ServerCall, CallStream) {
        guard let (server, own) = Platform.makePair() else {
            throw TweakError(
                .tooMany, "this process has no descriptors left; close something and try again", limit: .descriptors)
        }
        let call = ServerCall(caller: caller, dialect: dialect, descriptor: Descriptor(server, kernel))
        return (call, CallStream(Descriptor(own), place))
    }
}

/// Counts the callers' ends of connections, which are descriptors of this process as well as the server's.
final class CallPlaces: Sendable {
    private let taken = Atomic(0)

    /// A place, until this is released.
    final class Place: Sendable {
        private let places: CallPlaces

        fileprivate init(_ places: CallPlaces) { self.places = places }

        deinit { places.taken.subtract(1, ordering: .relaxed) }
    }

    /// Takes one of so many places; nil if all are taken.
    func take(of most: Int) -> Place? {
        let place = Place(self)
        return taken.add(1, ordering: .relaxed).oldValue < most ? place : nil
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
    private let connection: Mutex<(descriptor: Descriptor, place: CallPlaces.Place?)?>

    init(_ descriptor: Descriptor, _ place: CallPlaces.Place?) { connection = Mutex((descriptor, place)) }

    /// The most bytes of one read.
    private static let most = 16_384

    /// Waits for the next bytes; nil at the end, and in a canceled task. For one reader at a time.
    package func read() async -> [UInt8]? {
        while let descriptor = connection.withLock({ $0?.descriptor }), !Task.isCancelled,
            let bytes = Self.read(descriptor)
        {
            if !bytes.isEmpty { return bytes }
            await Self.wait(for: descriptor)
        }
        end()
        return nil
    }

    /// What has arrived, which may be nothing; nil at the end. Kept out of the asynchronous function, which has its code
    /// once for each suspension.
    @inline(never) private static func read(_ descriptor: Descriptor) -> [UInt8]? {
        withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { buffer in
            switch descriptor.read(into: buffer) {
            case .bytes(let count): Array(buffer[..<count])
            case .wouldBlock: []
            case .endOfInput, .failed: nil
            }
        }
    }

    /// Ends the session.
    private func end() { _ = connection.withLock { $0.take() } }

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
