// What other threads have to say to the I/O thread.

import Synchronization
import Tweaks
import TweaksWire

/// Messages to an event loop, and the means to wake it.
final class Mailbox: Sendable {
    enum Message: Sendable {
        /// Finish what is under way, close every session, end the loop.
        case stop
        /// An action that a session waits for has an answer.
        case actionEnded(SessionID, Result<ActionOutput, TweakError>)
        /// The reply to a request that was carried out elsewhere.
        case answered(SessionID, Reply)
        /// What `find` has found.
        case found(SessionID, Finder.Found)
        /// What a session asked for was read and judged, and is to be carried out.
        case judged(SessionID, then: @Sendable (Executor, Session) -> Executor.Outcome)
        /// What a session wants to change is on disk, or is not, and why.
        case proposed(SessionID, [OverrideKey: StoredEntry?], failure: String?)
        /// The storage has tried to write.
        case saved(SaveStatus)
        /// The audit has handed lines to the kernel.
        case audited(SaveStatus)
        /// The program was asked for more rights of a session.
        case asked(SessionID, TweakScopeRequest)
        /// It has decided.
        case decided(SessionID, TweakScopeRequest)
        /// There are other tokens than before.
        case tokensChanged(TokenTable)

        /// The session whose work is done with it.
        var worksFor: SessionID? {
            switch self {
            case .actionEnded(let id, _), .answered(let id, _), .found(let id, _), .judged(let id, _),
                .proposed(let id, _, _), .asked(let id, _):
                id
            case .stop, .saved, .audited, .decided, .tokensChanged: nil
            }
        }
    }

    let waker: Waker
    private let messages = Mutex<[Message]>([])
    /// While the loop is awake nobody needs to spend a system call on waking it.
    private let isAwake = Atomic<Bool>(true)

    init() throws(SocketError) { waker = try Waker() }

    func post(_ message: Message) {
        messages.withLock { $0.append(message) }
        wake()
    }

    /// Makes the loop look at its mailbox and at the commits.
    func wake() {
        if !isAwake.exchange(true, ordering: .sequentiallyConsistent) { waker.wake() }
    }

    /// The loop is about to sleep; from now on it must be woken. What was posted before has to be looked for once more.
    func fallAsleep() { isAwake.store(false, ordering: .sequentiallyConsistent) }

    /// The loop is awake.
    func awaken() { isAwake.store(true, ordering: .sequentiallyConsistent) }

    var isEmpty: Bool { messages.withLock { $0.isEmpty } }

    func takeAll() -> [Message] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}

/// A session's number, never used twice, and its descriptor, which is.
struct SessionID: Hashable, Sendable {
    let number: UInt64
    let descriptor: Int32

    /// What is no session's.
    static let server = SessionID(number: 0, descriptor: -1)
}
