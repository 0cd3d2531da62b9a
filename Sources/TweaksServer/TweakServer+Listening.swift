// How a server opens its listeners: sockets, ports, and those of its fronts.

import Tweaks

extension TweakServer {
    func open(_ listener: TweakListener, _ kernel: Kernel) throws(ServerError) -> [Listener] {
        switch listener {
        case .unix(let path):
            return [try Listener(at: try SocketPlace(path: path), isShared: hooks.access.isShared, kernel)]
        case .tcp(let port): return try Self.openTCP(port, wantsToken: false, kernel)
        case .tcpWithTokens(let port):
            guard hooks.tokens != nil else {
                throw ServerError(
                    "tcp port \(port): nobody could show a token, because there is no file of them; name one in "
                        + "TWEAKS_TOKEN_FILE, or in TweakDaemon.start")
            }
            return try Self.openTCP(port, wantsToken: true, kernel)
        }
    }

    /// The first of the ports of a front that is free.
    static func open(
        _ front: any ServerFront, hasTokenFile: Bool, _ kernel: Kernel
    ) throws(ServerError) -> [Listener] {
        var taken: ServerError?
        for port in front.ports {
            do throws(ServerError) {
                return try open(front, port, hasTokenFile: hasTokenFile, kernel)
            } catch {
                guard error.isTaken else { throw error }
                taken = error
            }
        }
        throw taken ?? ServerError("\(front.name): no port was named")
    }

    private static func open(
        _ front: any ServerFront, _ port: Int, hasTokenFile: Bool, _ kernel: Kernel
    ) throws(ServerError) -> [Listener] {
        guard let text = front.address else { return try openTCP(port, wantsToken: true, front: front, kernel) }
        let port = try number(port, front.name)
        guard let address = SocketAddress(text, port: port) else {
            throw ServerError("\(front.name) address \(text): write it in numbers, such as 192.0.2.1 or ::")
        }
        let name = "\(front.name) \(text) port \(port)"
        if !address.isLoopback, !hasTokenFile {
            throw ServerError(
                "\(name): beyond this machine a file of tokens is needed; name one in TWEAKS_TOKEN_FILE (tweakctl token new "
                    + "makes one), or listen on loopback and tunnel by ssh")
        }
        return [try Listener(address, name: name, wantsToken: true, front: front, kernel)]
    }

    private static func number(_ port: Int, _ kind: String) throws(ServerError) -> UInt16 {
        if let number = UInt16(exactly: port) { return number }
        throw ServerError("\(kind) port \(port): a port is 0…65535; 0 picks a free one")
    }

    private static func openTCP(
        _ port: Int, wantsToken: Bool, front: (any ServerFront)? = nil, _ kernel: Kernel
    ) throws(ServerError) -> [Listener] {
        let kind = front?.name ?? "tcp"
        let number = try number(port, kind)
        let first = try Listener(
            .loopback4(port: number), name: "\(kind) 127.0.0.1:\(port)", wantsToken: wantsToken, front: front, kernel)
        guard let port = first.port else { return [first] }
        do throws(ServerError) {
            // The same port on ::1, where this machine has it.
            let second = try Listener(
                .loopback6(port: port), name: "\(kind) [::1]:\(port)", wantsToken: wantsToken, front: front, kernel)
            return [first, second]
        } catch {
            // Who goes to localhost may come to ::1 first, and would show a token to another program.
            if error.isTaken, wantsToken, number != 0 { throw error }
            return [first]
        }
    }
}
