// Starts the server at the first place where this process can have a Unix socket, and says where that is.

#if Server
    import Tweaks
    import TweaksInterface
    import TweaksServer
    import TweaksSystem

    /// Where a daemon's Unix socket may be.
    enum SocketChoice {
        case off
        /// The path that the operator has named: there, or not at all.
        case named(path: String)
        /// In the first of these that can be used. Where none can, the program runs without a socket.
        case anywhere(RunPlaces)

        /// - Parameter temporary: The temporary directories; nil for the system's.
        init(_ environment: [String: String], _ temporary: [String]?) {
            let path = environment.text("TWEAKS_SOCKET")
            if DaemonSettings.isOff(path) {
                self = .off
            } else if let path {
                self = .named(path: path)
            } else if let temporary {
                self = .anywhere(RunPlaces(common: temporary) { environment[$0] })
            } else {
                self = .anywhere(RunPlaces { environment[$0] })
            }
        }
    }

    extension DaemonSettings {
        typealias Start = ([TweakListener]) throws(ServerError) -> TweakServer

        /// Starts with the first Unix socket that this process can have, and the first port that is free.
        /// - Parameter report: Receives warnings about places that cannot be used.
        func startFirst(report: (String) -> Void, _ start: Start) throws(ServerError) -> TweakServer {
            switch socket {
            case .off: return try startFirst(at: nil, start)
            case .named(let path): return try startFirst(at: path, start)
            case .anywhere(let places): return try startFirst(places, report, start)
            }
        }

        /// No place was named, so having none is no reason for a program not to run.
        private func startFirst(
            _ places: RunPlaces, _ report: (String) -> Void, _ start: Start
        ) throws(ServerError) -> TweakServer {
            var obstacles: [String] = []
            // A directory is looked at only when those before it cannot be used.
            for candidate in Self.candidates(places) {
                do throws(ServerError) {
                    let directory = try candidate.directory()
                    if let reason = directory.reason { report(Self.moved(directory, reason)) }
                    return try startFirst(in: directory.path, start)
                } catch {
                    guard error.isUnavailable else { throw error }
                    obstacles.append(error.description)
                }
            }
            report(
                "there is no place for a Unix socket, so tweakctl does not find this process; set TWEAKS_SOCKET to a path in "
                    + "a directory that this user can write to, or to off. \(obstacles.joined(separator: "; "))")
            return try startFirst(at: nil, start)
        }

        /// A directory to try.
        private enum Candidate {
            case runtime(String)
            case temporary(String)

            func directory() throws(ServerError) -> RunDirectory {
                switch self {
                case .runtime(let path): return RunDirectory(path)
                case .temporary(let path):
                    do throws(RunDirectory.Obstacle) {
                        return try RunDirectory(in: path)
                    } catch {
                        throw ServerError(error.description, isUnavailable: true)
                    }
                }
            }
        }

        private static func candidates(_ places: RunPlaces) -> [Candidate] {
            let temporary = places.temporary.map { Candidate.temporary($0) }
            guard let runtime = places.runtime, access(Folder.split(runtime).directory, W_OK) == 0 else {
                return temporary
            }
            return [.runtime(runtime)] + temporary
        }

        private static func moved(_ directory: RunDirectory, _ reason: String) -> String {
            "\(reason); the socket is in \(directory.path), where tweakctl finds it, too. Remove what is in the way, or "
                + "set XDG_RUNTIME_DIR or TWEAKS_SOCKET"
        }

        /// A second instance of the same name uses the second socket name.
        private func startFirst(in directory: String, _ start: Start) throws(ServerError) -> TweakServer {
            do throws(ServerError) {
                return try startFirst(at: "\(directory)/\(name).sock", start)
            } catch {
                guard error.isTaken else { throw error }
            }
            return try startFirst(at: "\(directory)/\(name)-\(ThisProcess.id).sock", start)
        }

        private func startFirst(at path: String?, _ start: Start) throws(ServerError) -> TweakServer {
            var lastError = ServerError("nothing to listen on")
            for port in ports {
                do throws(ServerError) {
                    return try start([path.map { .unix(path: $0) }, port].compactMap(\.self))
                } catch {
                    guard error.isTaken else { throw error }
                    lastError = error
                }
            }
            throw lastError
        }
    }

    extension TweakServer {
        /// The log line with the addresses.
        func listeningSummary(_ settings: DaemonSettings) -> String {
            let frozen = settings.isFrozen ? ", frozen" : ""
            let panel = settings.panel.flatMap { panel in
                panel.text(for: self, isOnTerminal: settings.isOnTerminal, hasTokens: settings.tokenFile != nil)
            }
            let metrics = metricsPort.map { "; metrics http://\(settings.metricsHost):\($0)/metrics" } ?? ""
            var places: [String] = []
            if let port {
                let access =
                    wantsTokens ? "requires a token" : "open to every user and container of this network namespace"
                places.append("127.0.0.1:\(port) (\(access))")
            }
            places += socketPaths.map { "unix socket \($0)\(isShared ? " (for named users, too)" : "")" }
            if places.isEmpty, let panel { return "tweaks at \(panel)\(frozen)\(metrics)" }
            if places.isEmpty {
                if case .anywhere = settings.socket {
                    return "tweaks are not served: there is no socket, and TCP is not open"
                }
                return "tweaks are not served: TWEAKS_SOCKET is off and TCP is not open"
            }
            let command = port.map { "nc 127.0.0.1 \($0)" } ?? "nc -U \(socketPaths.first ?? "")"
            let panelText = panel.map { "\($0); " } ?? ""
            return "tweaks at \(places.joined(separator: " and "))\(frozen)\(metrics); \(panelText)try: \(command)"
        }
    }
#endif
