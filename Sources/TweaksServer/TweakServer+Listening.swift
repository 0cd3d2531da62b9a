// Opens the listeners of a server: Unix sockets, TCP ports, and endpoints.

import Synchronization
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

    /// Opens a port on 127.0.0.1 and, if this machine has it, on ::1.
    private static func openTCP(
        _ port: Int, wantsToken: Bool, endpoint: (any Endpoint)? = nil, _ kernel: Kernel
    ) throws(ServerError) -> [Listener] {
        let name = endpoint?.name ?? "tcp"
        let number = try number(port, name)
        // A port that is free on one address only is not free: clients of localhost may try the other one first. Another
        // free port is as good as that one.
        for _ in 0..<(number == 0 ? freePortAttempts : 0) {
            do throws(ServerError) {
                return try openBoth(number, name, wantsToken: wantsToken, endpoint, kernel, isShareable: false)
            } catch {
                guard error.isTaken else { throw error }
            }
        }
        return try openBoth(number, name, wantsToken: wantsToken, endpoint, kernel, isShareable: !wantsToken)
    }

    private static let freePortAttempts = 16

    /// - Parameter isShareable: Another program may have the port on ::1; the listener reports it. Where clients show a
    ///   token, they could show it to that program.
    private static func openBoth(
        _ number: UInt16, _ name: String, wantsToken: Bool, _ endpoint: (any Endpoint)?, _ kernel: Kernel,
        isShareable: Bool
    ) throws(ServerError) -> [Listener] {
        let first = try Listener(
            .loopback4(port: number), name: "\(name) 127.0.0.1:\(number)", wantsToken: wantsToken, endpoint: endpoint,
            kernel)
        guard let port = first.port else { return [first] }
        do throws(ServerError) {
            let second = try Listener(
                .loopback6(port: port), name: "\(name) [::1]:\(port)", wantsToken: wantsToken, endpoint: endpoint,
                kernel)
            return [first, second]
        } catch {
            if error.isTaken, !isShareable { throw error }
            first.isTakenOnVersion6.store(error.isTaken, ordering: .relaxed)
            return [first]
        }
    }
}
