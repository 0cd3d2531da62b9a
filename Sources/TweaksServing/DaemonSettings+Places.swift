// Starts the server at the first place where this process can have a Unix socket.

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
        switch environment["TWEAKS_SOCKET"] {
        case let text? where DaemonSettings.isOff(text): self = .off
        case let path? where !path.isEmpty: self = .named(path: path)
        default:
            let places = temporary.map { RunPlaces(common: $0) { environment[$0] } } ?? RunPlaces { environment[$0] }
            self = .anywhere(places)
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
        for place in Self.candidates(places) {
            do throws(ServerError) {
                let directory = try place.directory()
                if let reason = directory.reason { report(Self.moved(directory, reason)) }
                return try startFirst(in: directory.path, start)
            } catch {
                guard error.isUnavailable else { throw error }
                obstacles.append(error.description)
            }
        }
        report(
            "there is no place for a Unix socket, so tweakctl does not find this process; set TWEAKS_SOCKET to a path in a "
                + "directory that this user can write to, or to off. \(obstacles.joined(separator: "; "))")
        return try startFirst(at: nil, start)
    }

    /// A directory to try, which is looked at only when those before it cannot be used.
    private struct Candidate {
        let directory: () throws(ServerError) -> RunDirectory
    }

    private static func candidates(_ places: RunPlaces) -> [Candidate] {
        var candidates: [Candidate] = []
        if let runtime = places.runtime, access(Folder.split(runtime).directory, W_OK) == 0 {
            candidates.append(Candidate { () throws(ServerError) in RunDirectory(runtime) })
        }
        return candidates
            + places.temporary.map { temporary in
                Candidate { () throws(ServerError) in
                    do throws(RunDirectory.Obstacle) {
                        return try RunDirectory(in: temporary)
                    } catch {
                        throw ServerError(error.description, isUnavailable: true)
                    }
                }
            }
    }

    private static func moved(_ directory: RunDirectory, _ reason: String) -> String {
        "\(reason); the socket is in \(directory.path), where tweakctl finds it, too. Remove what is in the way, or set "
            + "XDG_RUNTIME_DIR or TWEAKS_SOCKET"
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
