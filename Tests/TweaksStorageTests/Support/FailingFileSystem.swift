// Makes any call of a file system fail, stop half way, wait, or be the last before a crash.

import Synchronization
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

/// Forwards calls to another file system, except for the faults that a test plans.
final class FailingFileSystem: FileSystem {
    /// A call, passed to the plan.
    struct Call: Sendable {
        /// Counts from 1 for each plan.
        let number: Int
        /// The same, among calls of its kind.
        let numberOfKind: Int
        let kind: Kind
        /// The name of the file, or an empty string for calls without one.
        let name: String
    }

    enum Kind: String, Sendable {
        case makeDirectory, openDirectory, names, infoOfPath, info, infoOfName, open, read, write, empty, sync
        case lock, rename, remove
    }

    /// The result of a call.
    enum Fault: Sendable {
        case fails(Int32)
        /// Half of the bytes are written.
        case isShort
        /// The process dies first: this call and all later ones do nothing.
        case crashesBefore
        /// The process dies just after.
        case crashesAfter
        /// Opens one gate and waits for another, then proceeds.
        case waits(reached: Gate, goOn: Gate)
    }

    /// Runs under a lock.
    typealias Plan = @Sendable (Call) -> Fault?

    /// Crashes before or after the call with this number.
    static func crash(at number: Int, isAfter: Bool) -> Plan {
        { $0.number == number ? isAfter ? .crashesAfter : .crashesBefore : nil }
    }

    private struct State {
        var plan: Plan?
        var log: [Call] = []
        var isCrashed = false
    }

    private let inner: any FileSystem
    private let state = Mutex(State())

    init(_ inner: any FileSystem = PosixFileSystem()) { self.inner = inner }

    /// Replaces the plan, or removes it, and clears the log.
    func plan(_ plan: Plan?) { state.withLock { $0 = State(plan: plan, isCrashed: $0.isCrashed) } }

    var log: [Call] { state.withLock { $0.log } }
    var isCrashed: Bool { state.withLock { $0.isCrashed } }

    private func call<Result>(
        _ kind: Kind, _ body: @autoclosure () throws(FileError) -> Result, _ name: String = "",
        short: (() throws(FileError) -> Result)? = nil
    ) throws(FileError) -> Result {
        let (fault, isCrashed) = state.withLock { state -> (Fault?, Bool) in
            let numberOfKind = state.log.count { $0.kind == kind } + 1
            let call = Call(number: state.log.count + 1, numberOfKind: numberOfKind, kind: kind, name: name)
            state.log.append(call)
            let fault = state.isCrashed ? nil : state.plan?(call)
            switch fault {
            case .crashesBefore?, .crashesAfter?: state.isCrashed = true
            default: break
            }
            return (fault, state.isCrashed)
        }
        switch fault {
        case nil: if isCrashed { throw FileError(5) }
        case .fails(let code)?: throw FileError(code)
        case .isShort?: if let short { return try short() }
        case .crashesBefore?: throw FileError(5)
        case .crashesAfter?:
            _ = try body()
            throw FileError(5)
        case .waits(let reached, let goOn)?:
            reached.open()
            goOn.waitBlocking()
        }
        return try body()
    }

    // MARK: The calls

    func makeDirectory(_ path: String) throws(FileError) { try call(.makeDirectory, inner.makeDirectory(path), path) }

    func openDirectory(_ path: String) throws(FileError) -> Int32 {
        try call(.openDirectory, inner.openDirectory(path), path)
    }

    func makeDirectory(_ name: String, in directory: Int32) throws(FileError) {
        try call(.makeDirectory, inner.makeDirectory(name, in: directory), name)
    }

    func openDirectory(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try call(.openDirectory, inner.openDirectory(name, in: directory), name)
    }

    func names(in directory: Int32) throws(FileError) -> [String] { try call(.names, inner.names(in: directory)) }

    func info(path: String) throws(FileError) -> FileInfo { try call(.infoOfPath, inner.info(path: path), path) }

    func info(_ descriptor: Int32) throws(FileError) -> FileInfo { try call(.info, inner.info(descriptor)) }

    func info(_ name: String, in directory: Int32) throws(FileError) -> FileInfo {
        try call(.infoOfName, inner.info(name, in: directory), name)
    }

    func open(_ name: String, in directory: Int32, for purpose: FilePurpose) throws(FileError) -> Int32 {
        try call(.open, inner.open(name, in: directory, for: purpose), name)
    }

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try call(.read, inner.read(descriptor, into: buffer))
    }

    func seek(_ descriptor: Int32, to position: Int64) throws(FileError) { try inner.seek(descriptor, to: position) }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileError) -> Int {
        let half = UnsafeRawBufferPointer(rebasing: bytes.prefix((bytes.count + 1) / 2))
        return try call(
            .write, inner.write(descriptor, bytes),
            short: { [inner] () throws(FileError) in try inner.write(descriptor, half) })
    }

    func empty(_ descriptor: Int32) throws(FileError) { try call(.empty, inner.empty(descriptor)) }

    func beginSync(_ descriptor: Int32) { inner.beginSync(descriptor) }

    func sync(_ descriptor: Int32) throws(FileError) { try call(.sync, inner.sync(descriptor)) }

    // The system closes the descriptors of a process that dies.
    func close(_ descriptor: Int32) { inner.close(descriptor) }

    func lock(_ descriptor: Int32) throws(FileError) { try call(.lock, inner.lock(descriptor)) }

    func unlock(_ descriptor: Int32) { inner.unlock(descriptor) }

    func rename(_ name: String, to newName: String, in directory: Int32) throws(FileError) {
        try call(.rename, inner.rename(name, to: newName, in: directory), name)
    }

    func remove(_ name: String, in directory: Int32) throws(FileError) {
        try call(.remove, inner.remove(name, in: directory), name)
    }
}
