// Starts named system threads and compares their identities.

/// A thread's identity while it runs; a later thread can compare equal.
package struct SystemThread: Equatable, Sendable {
    private let number: UInt

    /// The calling thread.
    package static var current: SystemThread {
        #if canImport(Glibc) || canImport(Android)
            SystemThread(number: UInt(pthread_self()))
        #else
            SystemThread(number: UInt(bitPattern: pthread_self()))
        #endif
    }

    /// Enough for all code that runs on these threads, and the same on every system; defaults range from 128 KiB to 8
    /// MiB.
    private static let stackSize = 1_048_576

    /// Starts a thread, which ends when `body` returns.
    /// - Parameter name: At most 15 letters; debuggers and `top -H` show it.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(ThreadBody(name, body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackSize)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        #if canImport(Darwin) || canImport(Musl)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let result = pthread_create(&thread, &attributes, { ThreadBody.run($0) }, work.toOpaque())
        // The library cannot work without this thread.
        guard result == 0 else {
            fatalError("cannot start the thread \(name): \(errorText(result)); allow more threads")
        }
    }
}

/// A thread's name and body, passed through the C callback.
private final class ThreadBody: Sendable {
    private let name: String
    private let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let pointer else { return nil }
        let work = Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue()
        #if canImport(Darwin)
            pthread_setname_np(work.name)
        #else
            tweaks_name_thread(pthread_self(), work.name)
        #endif
        work.body()
        return nil
    }
}
