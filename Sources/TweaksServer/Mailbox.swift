// Passes messages from other threads to the I/O thread.

import Synchronization
import Tweaks
import TweaksWire

/// A queue of messages to an event loop, with the means to wake it.
final class Mailbox: Sendable {
    enum Message: Sendable {
        /// Finish work in progress, close every session, end the loop.
        case stop
        /// An action that a session waits for has ended.
        case actionEnded(SessionID, Result<ActionOutput, TweakError>)
        /// The reply to a request that was executed in the background.
        case answered(SessionID, Reply)
        /// The result of `find`.
        case found(SessionID, Finder.Found)
        /// A request was read and validated in the background, and is ready to execute.
        case validated(SessionID, then: @Sendable (Executor, Session) -> Executor.Outcome)
        /// The changes of a session were written, or could not be, with the reason.
        case proposed(SessionID, [OverrideKey: StoredEntry?], failure: String?)
        /// The storage has tried to write.
        case saved(SaveStatus)
        /// The audit has written to the kernel.
        case audited(SaveStatus)
        /// The program's handler of scope requests has returned.
        case asked(SessionID, TweakScopeRequest)
        /// The program has decided a pending scope request.
        case decided(SessionID, TweakScopeRequest)
        /// The token table has changed.
        case tokensChanged(TokenTable)

        /// The session whose background work this message completes.
        var sessionOfCompletedWork: SessionID? {
            switch self {
            case .actionEnded(let id, _), .answered(let id, _), .found(let id, _), .validated(let id, _),
                .proposed(let id, _, _), .asked(let id, _):
                id
            case .stop, .saved, .audited, .decided, .tokensChanged: nil
            }
        }
    }

    let waker: Waker
    private let messages = Mutex<[Message]>([])
    /// While the loop is awake, no system call is needed to wake it.
    private let isAwake = Atomic<Bool>(true)

    init() throws(SocketError) { waker = try Waker() }

    func post(_ message: Message) {
        messages.withLock { $0.append(message) }
        wake()
    }

    /// Makes the loop check its mailbox and the commits.
    func wake() {
        if !isAwake.exchange(true, ordering: .sequentiallyConsistent) { waker.wake() }
    }

    /// Marks the loop as about to sleep, so that it must be woken. The mailbox has to be checked once more after this.
    func fallAsleep() { isAwake.store(false, ordering: .sequentiallyConsistent) }

    /// Marks the loop as awake.
    func awaken() { isAwake.store(true, ordering: .sequentiallyConsistent) }

    var isEmpty: Bool { messages.withLock { $0.isEmpty } }

    func takeAll() -> [Message] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}

/// A session's number, which is never reused, and its descriptor, which is.
struct SessionID: Hashable, Sendable {
    let number: UInt64
    let descriptor: Int32

    /// The server itself rather than a session.
    static let server = SessionID(number: 0, descriptor: -1)
}
