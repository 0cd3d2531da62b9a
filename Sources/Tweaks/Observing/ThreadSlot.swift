// Provides thread-local storage of one object for each thread.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// A thread-local object, created on demand and released when the thread ends.
///
/// A task-local value costs five times as much, and is inherited by tasks that outlive the code which set it.
struct ThreadSlot<Object: AnyObject>: Sendable {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        #if canImport(Darwin)
            let code = pthread_key_create(&key) { Unmanaged<AnyObject>.fromOpaque($0).release() }
        #else
            let code = pthread_key_create(&key) { object in
                if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
            }
        #endif
        // Fatal, as in the Swift runtime: a process has hundreds of keys, and nothing works without this one.
        if code != 0 { fatalError("Tweaks: no thread-specific key is left in this process (error \(code))") }
        self.key = key
    }

    /// The object of this thread.
    func object(_ make: () -> Object) -> Object {
        if let pointer = pthread_getspecific(key) { return Unmanaged.fromOpaque(pointer).takeUnretainedValue() }
        let object = make()
        pthread_setspecific(key, Unmanaged.passRetained(object).toOpaque())
        return object
    }
}
