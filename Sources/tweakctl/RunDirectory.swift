// Lists the sockets in the run directories and removes those of crashed processes.

import TweaksSystem

/// A directory of sockets.
struct RunDirectory: Equatable {
    let path: String

    /// The run directories of this user: all places where a daemon may have put its socket, since it may have been
    /// started with other variables, or found a place that it could not use.
    static var all: [RunDirectory] {
        let places = RunPlaces(System.variable)
        return (places.runtime.map { [RunDirectory(path: $0)] } ?? []) + places.temporary.flatMap(inTemporary)
    }

    private static func inTemporary(_ temporary: String) -> [RunDirectory] {
        // If another user has the usual name, a daemon creates a directory with a suffix.
        let names = (try? Folder(temporary).names()) ?? []
        let others = names.filter { $0.hasPrefix(RunPlaces.prefix(ThisProcess.user)) }.sorted()
        return [RunDirectory(path: RunPlaces.usual(in: temporary, ThisProcess.user))]
            + others.map { RunDirectory(path: "\(temporary)/\($0)") }.filter(\.isTrusted)
    }

    /// All known sockets: that of `TWEAKS_SOCKET`, then those in the directories.
    static var sockets: [NamedSocket] {
        let named = NamedSocket.ofEnvironment
        return (named.map { [$0] } ?? []) + all.flatMap(\.sockets).filter { $0.path != named?.path }
    }

    /// The socket paths that a process of this name would use.
    static func sockets(of name: String) -> [String] { all.map { "\($0.path)/\(name).sock" } }

    /// The sockets in it, by name. Empty where another user owns or can write the directory, and could plant a socket.
    var sockets: [NamedSocket] {
        guard isTrusted, let folder = try? Folder(path), let names = try? folder.names() else { return [] }
        let found = names.filter { name in
            guard name.hasSuffix(".sock"), name.utf8.count > 5, let info = try? folder.info(name) else {
                return false
            }
            return info.kind == .socket && info.owner == geteuid()
        }
        return found.sorted().map { NamedSocket(name: String($0.dropLast(5)), path: "\(path)/\($0)") }
    }

    private var isTrusted: Bool {
        guard let info = try? Folder.anywhere.info(path) else { return false }
        return info.kind == .directory && info.owner == geteuid() && info.mode & 0o022 == 0
    }
}

/// A socket in a run directory, or the one of `TWEAKS_SOCKET`.
struct NamedSocket: Equatable {
    /// The name of the process: the file name without `.sock`.
    let name: String
    let path: String

    /// The socket of `TWEAKS_SOCKET`, the variable that the process itself reads; nil for `off`.
    static var ofEnvironment: NamedSocket? {
        guard let path = System.variable("TWEAKS_SOCKET"), path != "off" else { return nil }
        return NamedSocket(at: path)
    }

    init(name: String, path: String) { (self.name, self.path) = (name, path) }

    /// The socket at a path, named by its file.
    init(at path: String) {
        let file = String(path.split(separator: "/").last ?? "")
        self.init(name: file.hasSuffix(".sock") ? String(file.dropLast(5)) : file, path: path)
    }

    var address: Address { .unix(path: path) }

    /// Whether it is `NAME-PID`, the form of a second instance of a name.
    func isInstance(of name: String) -> Bool {
        guard self.name.hasPrefix(name + "-") else { return false }
        let rest = self.name.utf8.dropFirst(name.utf8.count + 1)
        return !rest.isEmpty && rest.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Removes the socket of a crashed process: nothing accepts connections, and its lock is free. The server uses the
    /// same rules, so that a starting process never loses its socket.
    func removeIfStale() {
        guard let lock = try? Folder.anywhere.lock(path + ".lock", FileRules(.anyone)) else { return }
        defer { withExtendedLifetime(lock) {} }
        // Again under the lock: a process may have started before it was acquired.
        do throws(Address.ConnectError) {
            close(try address.connectedSocket(within: 0))
        } catch {
            if error.code == ECONNREFUSED { unlink(path) }
        }
        unlink(path + ".lock")
    }
}
