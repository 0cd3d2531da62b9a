// Runs headless Chromium once for all tests, controls it over a socket, and ends it with the tests.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Dispatch
import Foundation
import Synchronization
package import Testing

/// An error of the browser.
package struct BrowserError: Error, Equatable, CustomStringConvertible {
    /// The kind of error: `no such element`, `stale element reference`, `timeout`.
    package let code: String
    /// The request, the problem, and details that may help.
    package let description: String
}

/// A running Chromium. Any number of threads may send commands at once.
///
/// It speaks the DevTools protocol (https://chromedevtools.github.io/devtools-protocol/): JSON, each message followed
/// by a NUL, on descriptors 3 and 4 of the program.
final class Chromium: Sendable {
    /// The instance that all tests share, started on first use.
    static let shared: Result<Chromium, any Error> = Result {
        let chromium = try Chromium()
        atexit { (try? Chromium.shared.get())?.end() }
        return chromium
    }

    private static let arguments = [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-breakpad",
        "--disable-extensions", "--no-first-run", "--force-color-profile=srgb", "--lang=en", "--disable-popup-blocking",
        "--disable-background-networking", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
        "--disable-backgrounding-occluded-windows", "--enable-blink-features=ComputedAccessibilityInfo",
        "--host-resolver-rules=MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1, EXCLUDE ::1",
        "--remote-debugging-pipe", "--disable-features=SpareRendererForSitePerProcess",
        // A profile has one process per site, which also loads the first page of a blank tab.
        "--renderer-process-limit=1",
    ]

    /// Closes inherited descriptors of other tests: otherwise their pipes would stay open until all tests end. The
    /// browser ends with its socket, however the tests end. Then the rest of its process group is killed, and its
    /// profile is removed once no process writes there.
    private static let script = """
        exec 2>/dev/null
        for number in /dev/fd/*; do number=${number##*/}; [ $number -le 2 ] || eval "exec $number>&-"; done
        set -m
        trap "" HUP INT TERM
        program=$0 place=$1
        shift
        export TMPDIR=$place HOME=$place XDG_CONFIG_HOME=$place XDG_CACHE_HOME=$place
        "$program" --user-data-dir="$place/profile" "$@" 3<&0 4>&0 </dev/null >/dev/null &
        exec </dev/null
        wait $!
        kill -KILL -- -$!
        for _ in {1..20}; do kill -0 -- -$! || break; sleep 0.1; done
        rm -rf "$place"
        """

    /// The reply to one command, which one thread waits for.
    private final class Reply: Sendable {
        let message = Mutex<PageValue?>(nil)
        let arrived = DispatchSemaphore(value: 0)

        func deliver(_ message: PageValue) {
            self.message.withLock { $0 = message }
            arrived.signal()
        }
    }

    private struct Command: Encodable {
        var id: Int
        var method: String
        var params: PageValue
        var sessionId: String?
    }

    private struct State {
        var count = 0
        var isOver = false
        var replies: [Int: Reply] = [:]
        var listeners: [String: @Sendable (_ event: String, PageValue) -> Void] = [:]
    }

    private let state = Mutex(State())
    /// Keeps the messages of several threads from mixing.
    private let writing = Mutex(())
    private let number: Int32
    private let process: BackgroundProcess
    /// The directory of its profile.
    let directory: String

    /// Starts the browser.
    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &ends) == 0 else { throw ClientError.system("socketpair", errno) }
        // Processes of other tests must not inherit our end: the browser would outlive the tests.
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        number = ends[0]
        directory = try TemporaryDirectory.made()
        // Without `--norc` a shell whose input is a socket assumes a remote login.
        process = try BackgroundProcess(
            Tool.bash.path, ["--norc", "-c", Self.script, Tool.chromium.path, directory] + Self.arguments,
            environment: ["PATH": "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"],
            streams: [ends[1], STDERR_FILENO, STDERR_FILENO])
        _ = systemClose(ends[1])
        Thread.detachNewThread { [self] in readAll() }
        _ = try ask("Browser.getVersion", about: "the start of Chromium")
    }

    /// Ends the browser and waits until its process group is gone.
    func end() {
        shutdown(number, Int32(SHUT_RDWR))
        process.wait()
    }

    // MARK: Commands

    /// Sends a command, and waits for its result.
    /// - Parameters:
    ///   - session: The session of a tab; nil for the browser.
    ///   - subject: The subject of the command, for error texts.
    func ask(
        _ name: String, _ parameters: PageValue = [:], session: String? = nil, about subject: String? = nil
    ) throws -> PageValue {
        let (reply, subject) = (Reply(), subject ?? name)
        let count = state.withLock { state in
            state.count += 1
            if !state.isOver { state.replies[state.count] = reply }
            return state.isOver ? nil : state.count
        }
        guard let count else { throw BrowserError(code: "ended", description: "\(subject): Chromium has ended") }
        let command = Command(id: count, method: name, params: parameters, sessionId: session)
        try send(Array(JSONEncoder().encode(command)) + [0])
        let end = DispatchTime.now() + .seconds(Int(Browser.timeout.components.seconds) * 2)
        guard reply.arrived.wait(timeout: end) == .success, let message = reply.message.withLock({ $0 }) else {
            throw BrowserError(code: "timeout", description: "\(subject): Chromium does not answer")
        }
        guard let error = message["error"]["message"].string else { return message["result"] }
        throw BrowserError(code: "refused", description: "\(subject): \(error)")
    }

    private func send(_ bytes: [UInt8]) throws {
        try writing.withLock { _ in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { systemSend(number, $0.baseAddress, $0.count, sendFlags) }
                if count < 0, errno != EINTR { throw ClientError.system("send to Chromium", errno) }
                rest = rest.dropFirst(max(count, 0))
            }
        }
    }

    /// Calls a listener with each event of a session, on the reading thread; nil removes it.
    func listen(to session: String, _ listener: (@Sendable (_ event: String, PageValue) -> Void)?) {
        state.withLock { $0.listeners[session] = listener }
    }

    // MARK: Reading

    private func readAll() {
        var (buffer, chunk) = (Data(), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = uninterrupted { recv(number, &chunk, chunk.count, 0) }
            guard count > 0 else { break }
            // Only the new bytes are searched: a page's picture or tree of elements comes in many chunks.
            var rest = chunk[..<count]
            while let end = Self.endOfMessage(rest) {
                buffer.append(contentsOf: rest[..<end])
                if let message = try? PageValue(json: buffer) { dispatch(message) }
                buffer = Data()
                rest = rest[(end + 1)...]
            }
            buffer.append(contentsOf: rest)
        }
        let waiting = state.withLock { state in
            defer { state.replies = [:] }
            state.isOver = true
            return state.replies.values
        }
        for reply in waiting { reply.deliver(["error": ["message": "Chromium has ended"]]) }
    }

    /// The index of the first NUL, by the function of C: a search in Swift is slow where tests are not optimized.
    private static func endOfMessage(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { part -> Int? in
            guard let start = part.baseAddress, let end = memchr(start, 0, part.count) else { return nil }
            return bytes.startIndex + (UnsafeRawPointer(end) - start)
        }
    }

    /// Dispatches a reply or an event.
    private func dispatch(_ message: PageValue) {
        if let id = message["id"].number {
            state.withLock { $0.replies.removeValue(forKey: Int(id)) }?.deliver(message)
        } else if let session = message["sessionId"].string, let name = message["method"].string {
            state.withLock { $0.listeners[session] }?(name, message["params"])
        }
    }
}

// MARK: Tests

extension Trait where Self == ConditionTrait {
    /// The test drives a real browser.
    package static var needsBrowser: Self { .enabled(if: Browser.isAvailable, "install chromium-headless-shell") }
}
