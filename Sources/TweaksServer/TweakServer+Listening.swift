// Opens the listeners of a server: Unix sockets, TCP ports, and endpoints.

import Tweaks

extension TweakServer {
    func open(_ listener: TweakListener, _ kernel: Kernel) throws(ServerError) -> [Listener] {
        switch listener {
        case .unix(let path):
            return [try Listener(at: try SocketLease(path: path), isShared: hooks.access.isShared, kernel)]
        case .tcp(let port): return try Self.openTCP(port, wantsToken: false, kernel)
        case .tcpWithTokens(let port):
            guard hooks.tokens != nil else {
                throw ServerError(
                    "tcp port \(port): this listener requires tokens, and there is no token file; name one in "
                        + "TWEAKS_TOKEN_FILE, or in TweakDaemon.start")
            }
            return try Self.openTCP(port, wantsToken: true, kernel)
        }
    }

    /// Opens an endpoint on the first free one of its ports.
    static func open(
        _ endpoint: any Endpoint, hasTokenFile: Bool, _ kernel: Kernel
    ) throws(ServerError) -> [Listener] {
        var taken: ServerError?
        for port in endpoint.ports {
            do throws(ServerError) {
                return try open(endpoint, port, hasTokenFile: hasTokenFile, kernel)
            } catch {
                guard error.isTaken else { throw error }
                taken = error
            }
        }
        throw taken ?? ServerError("\(endpoint.name): no port was named")
    }

    private static func open(
        _ endpoint: any Endpoint, _ port: Int, hasTokenFile: Bool, _ kernel: Kernel
    ) throws(ServerError) -> [Listener] {
        guard let text = endpoint.address else {
            return try openTCP(port, wantsToken: true, endpoint: endpoint, kernel)
        }
        let port = try number(port, endpoint.name)
        guard let address = SocketAddress(text, port: port) else {
            throw ServerError("\(endpoint.name) address \(text): write it in numbers, such as 192.0.2.1 or ::")
        }
        let name = "\(endpoint.name) \(text) port \(port)"
        if !address.isLoopback, !hasTokenFile {
            throw ServerError(
                "\(name): listening beyond this machine needs a token file; name one in TWEAKS_TOKEN_FILE (tweakctl "
                    + "token new makes one), or listen on loopback and tunnel by ssh")
        }
        return [try Listener(address, name: name, wantsToken: true, endpoint: endpoint, kernel)]
    }

    private static func number(_ port: Int, _ kind: String) throws(ServerError) -> UInt16 {
        if let number = UInt16(exactly: port) { return number }
        throw ServerError("\(kind) port \(port): a port is 0…65535; 0 picks a free one")
    }

    private static func openTCP(
        _ port: Int, wantsToken: Bool, endpoint: (any Endpoint)? = nil, _ kernel: Kernel
    ) throws(ServerError) -> [Listener] {
        let kind = endpoint?.name ?? "tcp"
        let number = try number(port, kind)
        let first = try Listener(
            .loopback4(port: number), name: "\(kind) 127.0.0.1:\(port)", wantsToken: wantsToken, endpoint: endpoint,
            kernel)
        guard let port = first.port else { return [first] }
        do throws(ServerError) {
            // The same port on ::1, if this machine has it.
            let second = try Listener(
                .loopback6(port: port), name: "\(kind) [::1]:\(port)", wantsToken: wantsToken, endpoint: endpoint,
                kernel)
            return [first, second]
        } catch {
            // Clients of localhost may try ::1 first, and would show a token to another program.
            if error.isTaken, wantsToken, number != 0 { throw error }
            return [first]
        }
    }
}
