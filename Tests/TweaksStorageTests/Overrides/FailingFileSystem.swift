// A file system of which any call can be made to fail, to stop half way, or to be the last before a crash.

import Synchronization
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

/// Passes calls on to another file system, unless the test's plan says otherwise.
final class FailingFileSystem: FileSystem {
    /// A call, as a plan sees it.
    struct Call: Sendable {
        /// Counts from 1, since the plan was made.
        let number: Int
        /// The same, among calls of its kind.
        let numberOfKind: Int
        let kind: Kind
        /// The name of the file, where the call has one.
        let name: String
    }

    enum Kind: String, Sendable {
        case makeDirectory, openDirectory, names, factsOfPath, facts, factsOfName, open, read, write, empty, sync
        case lock, rename, remove
    }

    /// What becomes of a call.
    enum Fault: Sendable {
        case fails(Int32)
        /// Half of the bytes are written.
        case isShort
        /// The process dies first: this call and all later ones do nothing.
        case crashesBefore
        /// The process dies just after.
        case crashesAfter
        /// Waits until the test lets it go on.
        case waits(reached: Gate, goOn: Gate)
    }

    /// Runs under a lock.
    typealias Plan = @Sendable (Call) -> Fault?

    private struct State {
        var plan: Plan?
        var log: [Call] = []
        var isCrashed = false
    }

    private let inner: any FileSystem
    private let state = Mutex(State())

    init(_ inner: any FileSystem = PosixFileSystem()) { self.inner = inner }

    /// From now on this plan holds; nil for none. The log begins anew.
    func plan(_ plan: Plan?) { state.withLock { $0 = State(plan: plan, isCrashed: $0.isCrashed) } }

    var log: [Call] { state.withLock { $0.log } }
    var isCrashed: Bool { state.withLock { $0.isCrashed } }

    private func call<Result>(
        _ kind: Kind, _ name: String = "", _ body: (_ isShort: Bool) throws(FileError) -> Result
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
        case .isShort?: return try body(true)
        case .crashesBefore?: throw FileError(5)
        case .crashesAfter?:
            _ = try body(false)
            throw FileError(5)
        case .waits(let reached, let goOn)?:
            reached.open()
            goOn.waitBlocking()
        }
        return try body(false)
    }

    // MARK: The calls

    func makeDirectory(_ path: String) throws(FileError) {
        try call(.makeDirectory, path) { _ throws(FileError) in try inner.makeDirectory(path) }
    }

    func openDirectory(_ path: String) throws(FileError) -> Int32 {
        try call(.openDirectory, path) { _ throws(FileError) in try inner.openDirectory(path) }
    }

    func makeDirectory(_ name: String, in directory: Int32) throws(FileError) {
        try call(.makeDirectory, name) { _ throws(FileError) in try inner.makeDirectory(name, in: directory) }
    }

    func openDirectory(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try call(.openDirectory, name) { _ throws(FileError) in try inner.openDirectory(name, in: directory) }
    }

    func names(in directory: Int32) throws(FileError) -> [String] {
        try call(.names) { _ throws(FileError) in try inner.names(in: directory) }
    }

    func facts(path: String) throws(FileError) -> FileFacts {
        try call(.factsOfPath, path) { _ throws(FileError) in try inner.facts(path: path) }
    }

    func facts(_ descriptor: Int32) throws(FileError) -> FileFacts {
        try call(.facts) { _ throws(FileError) in try inner.facts(descriptor) }
    }

    func facts(_ name: String, in directory: Int32) throws(FileError) -> FileFacts {
        try call(.factsOfName, name) { _ throws(FileError) in try inner.facts(name, in: directory) }
    }

    func open(_ name: String, in directory: Int32, for purpose: FilePurpose) throws(FileError) -> Int32 {
        try call(.open, name) { _ throws(FileError) in try inner.open(name, in: directory, for: purpose) }
    }

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try call(.read) { _ throws(FileError) in try inner.read(descriptor, into: buffer) }
    }

    func seek(_ descriptor: Int32, to position: Int64) throws(FileError) {
        try inner.seek(descriptor, to: position)
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileError) -> Int {
        try call(.write) { isShort throws(FileError) in
            let count = isShort ? (bytes.count + 1) / 2 : bytes.count
            return try inner.write(descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
        }
    }

    func empty(_ descriptor: Int32) throws(FileError) {
        try call(.empty) { _ throws(FileError) in try inner.empty(descriptor) }
    }

    func beginSync(_ descriptor: Int32) { inner.beginSync(descriptor) }

    func sync(_ descriptor: Int32) throws(FileError) {
        try call(.sync) { _ throws(FileError) in try inner.sync(descriptor) }
    }

    // A process that dies closes its descriptors.
    func close(_ descriptor: Int32) { inner.close(descriptor) }

    func lock(_ descriptor: Int32) throws(FileError) {
        try call(.lock) { _ throws(FileError) in try inner.lock(descriptor) }
    }

    func unlock(_ descriptor: Int32) { inner.unlock(descriptor) }

    func rename(_ name: String, to newName: String, in directory: Int32) throws(FileError) {
        try call(.rename, name) { _ throws(FileError) in try inner.rename(name, to: newName, in: directory) }
    }

    func remove(_ name: String, in directory: Int32) throws(FileError) {
        try call(.remove, name) { _ throws(FileError) in try inner.remove(name, in: directory) }
    }
}
