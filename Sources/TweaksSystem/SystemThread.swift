// Threads of the system: started with a name, and told apart.

/// A thread, for as long as it runs; a later one may be equal to it.
package struct SystemThread: Equatable, Sendable {
    private let number: UInt

    /// The one that asks.
    package static var current: SystemThread {
        #if canImport(Glibc) || canImport(Android)
            SystemThread(number: UInt(pthread_self()))
        #else
            SystemThread(number: UInt(bitPattern: pthread_self()))
        #endif
    }

    /// Enough for all that runs on them, and the same everywhere; one system has 8 MiB by itself, another one 128 KiB.
    private static let stackSize = 1_048_576

    /// Starts a thread, which ends with `body`.
    /// - Parameter name: At most 15 letters; debuggers and `top -H` show it.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(name, body))
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
        let result = pthread_create(&thread, &attributes, { Work.run($0) }, work.toOpaque())
        // Nothing that was promised can be kept without it.
        guard result == 0 else {
            fatalError("cannot start the thread \(name): \(errorText(result)); allow more threads")
        }
    }
}

/// What a thread has to do, on its way there.
private final class Work: Sendable {
    private let name: String
    private let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }

    static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let pointer else { return nil }
        let work = Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue()
        #if canImport(Darwin)
            pthread_setname_np(work.name)
        #else
            tweaks_name_thread(pthread_self(), work.name)
        #endif
        work.body()
        return nil
    }
}
