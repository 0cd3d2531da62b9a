// The program chromedriver: started once for all tests, asked over HTTP, gone when they are.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
package import Testing

/// What a browser or its driver refuses.
package struct BrowserError: Error, Equatable, CustomStringConvertible {
    /// WebDriver's name of it: `no such element`, `element click intercepted`.
    package let code: String
    /// What was asked for, what is wrong, and what may help.
    package let description: String
}

/// A running chromedriver. Each exchange is a connection of its own, so any number of threads may ask at once.
final class WebDriver: Sendable {
    /// The driver of this process; started by whoever asks first.
    static let shared: Result<WebDriver, any Error> = Result {
        let driver = try WebDriver()
        atexit { if let driver = try? WebDriver.shared.get() { driver.end() } }
        return driver
    }

    private let port: Int
    private let process: LastingProcess
    /// Open as long as this process lives.
    private let leash = Pipe()

    /// Lets go of what other tests opened while it was being started: the pipe of another program would not end before all
    /// tests do. Runs the driver in a process group of its own and waits for the end of its input, which comes when this
    /// process ends, in whatever way. Then everything in the group is killed – the driver leaves its browsers behind when
    /// it is ended by a signal – and the browsers' profiles go, when nobody writes there any more.
    private static let script = """
        exec 2>/dev/null
        for number in /dev/fd/*; do number=${number##*/}; [ $number -le 2 ] || eval "exec $number>&-"; done
        set -m
        trap "" HUP INT TERM
        place=$(mktemp -d /tmp/tweaks-browser-XXXXXX)
        export TMPDIR=$place HOME=$place XDG_CONFIG_HOME=$place XDG_CACHE_HOME=$place
        "$0" --port=0 </dev/null &
        cat >/dev/null
        kill -KILL -- -$!
        wait
        for _ in {1..20}; do kill -0 -- -$! || break; sleep 0.1; done
        rm -rf "$place"
        """

    init() throws {
        let (output, log) = (Pipe(), LogLines())
        // No program that other tests start may hold the leash.
        _ = fcntl(leash.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process = try LastingProcess(
            Tool.bash.path, ["-c", Self.script, Tool.chromedriver.path],
            environment: ["PATH": "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"],
            streams: [
                leash.fileHandleForReading.fileDescriptor, output.fileHandleForWriting.fileDescriptor, STDERR_FILENO,
            ])
        for end in [leash.fileHandleForReading, output.fileHandleForWriting] { try end.close() }
        Self.readLines(output.fileHandleForReading, into: log)
        let prefix = "ChromeDriver was started successfully on port "
        guard let position = log.firstIndex(from: 0, where: { $0.hasPrefix(prefix) }),
            let port = Int(log.all[position].dropFirst(prefix.count).filter(\.isNumber))
        else { throw BrowserError(code: "no driver", description: "chromedriver did not start: \(log.all)") }
        self.port = port
    }

    private static func readLines(_ handle: FileHandle, into log: LogLines) {
        Thread.detachNewThread {
            var rest = ""
            while true {
                let bytes = handle.availableData
                if bytes.isEmpty { break }
                var lines = (rest + String(decoding: bytes, as: UTF8.self)).splitLines()
                rest = lines.removeLast()
                for line in lines { log.add(line) }
            }
        }
    }

    /// Ends it with all its browsers, and waits for that.
    private func end() {
        _ = try? exchange("GET", "/shutdown", nil)
        letGo()
    }

    /// What happens when this process dies; waits until all is gone.
    func letGo() {
        try? leash.fileHandleForWriting.close()
        process.wait()
    }

    // MARK: Asking

    /// Sends a command.
    /// - Parameter subject: What the command is about, for errors.
    func ask(_ method: String, _ path: String, _ body: PageValue?, about subject: String) throws -> PageValue {
        let reply = try exchange(method, path, body)
        let value = reply["value"]
        guard let code = value["error"].string else { return value }
        // The lines after the first tell the versions.
        let message = value["message"].string?.splitLines().first ?? ""
        throw BrowserError(code: code, description: "\(subject): \(message)")
    }

    private func exchange(_ method: String, _ path: String, _ body: PageValue?) throws -> PageValue {
        let client = try TestClient(port: port)
        let bytes = try body.map { try JSONEncoder().encode($0) } ?? Data()
        let head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n"
        try client.send(Array("\(head)Content-Length: \(bytes.count)\r\nConnection: close\r\n\r\n".utf8) + bytes)
        let reply = try client.read(through: "\r\n\r\n").lowercased()
        let fields = reply.splitLines().filter { $0.hasPrefix("content-length:") }
        guard let length = fields.first.flatMap({ Int($0.filter(\.isNumber)) }) else {
            throw BrowserError(code: "no length", description: "chromedriver answered \(method) \(path) with: \(reply)")
        }
        return try JSONDecoder().decode(PageValue.self, from: Data(client.bytes(length)))
    }
}

// MARK: Tests

extension Trait where Self == ConditionTrait {
    /// The test drives a real browser.
    package static var needsBrowser: Self {
        .enabled(if: Browser.isAvailable, "install chromium and chromium-driver")
    }
}
