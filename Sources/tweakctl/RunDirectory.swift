// The directories where sockets live: what is there, and the clearing away of what crashed processes left.

import TweaksSystem
import TweaksTerminal

/// A directory of sockets.
struct RunDirectory: Equatable {
    let path: String

    /// Where processes of this user put their sockets: with and without a run directory of the session, because a
    /// daemon may have been started without.
    static var all: [RunDirectory] {
        var paths: [String] = []
        if let runtime = System.variable("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") {
            paths.append(runtime + "/tweaks")
        }
        let named = System.variable("TMPDIR") ?? "/tmp"
        let temporary = named.hasSuffix("/") ? String(named.dropLast()) : named
        paths.append("\(temporary)/tweaks-\(geteuid())")
        // Where another user had taken that name, a daemon has made one like it.
        let names = (try? Folder(temporary).names()) ?? []
        let others = names.filter { $0.hasPrefix("tweaks-\(geteuid())-") }.sorted()
        let directories = others.map { RunDirectory(path: "\(temporary)/\($0)") }
        return paths.map(RunDirectory.init) + directories.filter(\.isTrusted)
    }

    /// All sockets that are known: that of `TWEAKS_SOCKET`, then those in the directories.
    static var sockets: [NamedSocket] {
        let named = NamedSocket.ofEnvironment
        return (named.map { [$0] } ?? []) + all.flatMap(\.sockets).filter { $0.path != named?.path }
    }

    /// Where a process of this name has its socket, running or not.
    static func sockets(of name: String) -> [String] { all.map { "\($0.path)/\(name).sock" } }

    /// The sockets in it, by name. None where the directory is another's: it could hold a trap.
    var sockets: [NamedSocket] {
        guard isTrusted, let folder = try? Folder(path), let names = try? folder.names() else { return [] }
        let found = names.filter { name in
            guard name.hasSuffix(".sock"), name.utf8.count > 5, let facts = try? folder.facts(name) else {
                return false
            }
            return facts.kind == .socket && facts.owner == geteuid()
        }
        return found.sorted().map { NamedSocket(name: String($0.dropLast(5)), path: "\(path)/\($0)") }
    }

    private var isTrusted: Bool {
        guard let facts = try? Folder.anywhere.facts(path) else { return false }
        return facts.kind == .directory && facts.owner == geteuid() && facts.mode & 0o022 == 0
    }
}

/// A socket in a run directory, or the one of `TWEAKS_SOCKET`.
struct NamedSocket: Equatable {
    /// What people call the process: the file's name without its end.
    let name: String
    let path: String

    /// The one that `TWEAKS_SOCKET` names, as the process itself has it; nil for `off`.
    static var ofEnvironment: NamedSocket? {
        guard let path = System.variable("TWEAKS_SOCKET"), !path.isEmpty, path != "off" else { return nil }
        let file = String(path.split(separator: "/").last ?? "")
        return NamedSocket(name: file.hasSuffix(".sock") ? String(file.dropLast(5)) : file, path: path)
    }

    var address: Address { .unix(path: path) }

    /// Whether it is `NAME-PID`, as a second instance of a name is called.
    func isInstance(of name: String) -> Bool {
        guard self.name.hasPrefix(name + "-") else { return false }
        let rest = self.name.utf8.dropFirst(name.utf8.count + 1)
        return !rest.isEmpty && rest.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Removes it if it is a crashed process's: nobody answers, and its lock is free. The rules are the server's own,
    /// so that a process that is just starting is not robbed of its socket.
    func clearIfDead() {
        guard let lock = try? Folder.anywhere.lock(path + ".lock", FileRules(.anyone)) else { return }
        defer { withExtendedLifetime(lock) {} }
        // Once more, with the lock in hand: it may have come to life before.
        do throws(Address.Refusal) {
            close(try address.connectedSocket())
        } catch {
            if error.code == ECONNREFUSED { unlink(path) }
        }
        unlink(path + ".lock")
    }
}
