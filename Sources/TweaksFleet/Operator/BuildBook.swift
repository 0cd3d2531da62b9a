// Holds the declarations of a fleet's builds, and judges values by them.

package import Tweaks

/// A build that would refuse a value.
package struct BuildRefusal: Hashable, Sendable {
    package var build: String
    /// Processes that run it now.
    package var live: Int
    package var path: TweakPath
    package var reason: String

    package init(build: String, live: Int, path: TweakPath, reason: String) {
        (self.build, self.live, self.path, self.reason) = (build, live, path, reason)
    }

    package var text: String {
        "build \(build), \(live.processes), refuses it: \(reason)"
    }
}

extension Int {
    /// `1 process`, `2 processes`
    package var processes: String { "\(self) \(self == 1 ? "process" : "processes")" }
}

/// The builds of a fleet, those with the most processes first.
package struct BuildBook: Sendable {
    struct Entry: Sendable {
        var hash: String
        var live: Int
        var build: FleetBuild
    }

    let entries: [Entry]
    /// Keys that cannot be read, by what is wrong with each.
    package let garbage: [String: String]
    /// Processes whose builds are not here.
    package let undeclared: Int

    package init(_ result: EtcdRangeResult, _ keys: FleetKeys, _ live: [LiveInstance]) {
        let counts = Dictionary(grouping: live, by: \.status.build).mapValues(\.count)
        var entries: [Entry] = []
        var garbage: [String: String] = [:]
        for pair in result.keys {
            let hash = String(decoding: pair.key.dropFirst(keys.builds.count), as: UTF8.self)
            do throws(FleetProblem) {
                entries.append(Entry(hash: hash, live: counts[hash] ?? 0, build: try FleetBuild(pair.value)))
            } catch {
                garbage[hash] = error.description
            }
        }
        self.entries = entries.sorted { ($1.live, $0.hash) < ($0.live, $1.hash) }
        self.garbage = garbage
        undeclared = live.count - entries.reduce(0) { $0 + $1.live }
    }

    package var hashes: [String] { entries.map(\.hash) }

    /// Whether there are more declarations than a build's key holds: of a path that is missing nothing is known.
    package var isPartial: Bool { entries.contains { $0.build.isPartial } }

    /// Refuses conditions on figures that no build publishes: they would pause the rollout for missing data.
    package func check(_ conditions: [FigureCondition]) throws(FleetRefusal) {
        if entries.isEmpty || isPartial { return }
        for condition in conditions where kinds(of: condition.path).isEmpty {
            throw FleetRefusal(
                .refused, "--abort-if: no build has \(condition.path.token); mend the path, or say --new")
        }
    }

    /// Whether a build is known to lack a path.
    package func lacks(_ path: TweakPath, build hash: String) -> Bool {
        guard let build = entries.first(where: { $0.hash == hash })?.build, !build.isPartial else { return false }
        return build.definition(of: path) == nil
    }

    /// The kinds that builds declare for a path, the most frequent first.
    func kinds(of path: TweakPath) -> [(kind: TweakKind, component: TweakKind?)] {
        entries.compactMap { entry in
            entry.build.definition(of: path).map { ($0.kind, $0.component?.kind) }
        }
    }

    /// Which builds would refuse a value. A path that a build lacks passes; and so does what only builds refuse that no
    /// process runs, while there are processes.
    package func refusals(of assignment: FleetAssignment) -> [BuildRefusal] {
        let hasLive = entries.contains { $0.live > 0 }
        return entries.filter { $0.live > 0 || !hasLive }.compactMap { entry in
            guard let reason = entry.build.judge(assignment.value, for: assignment.path) else { return nil }
            return BuildRefusal(build: entry.hash, live: entry.live, path: assignment.path, reason: reason)
        }
    }
}

extension FleetOperator {
    /// The builds, with how many processes run each.
    package func builds() async throws(FleetRefusal) -> BuildBook {
        let population = try await population()
        return BuildBook(try await range(.prefix(keys.builds)), keys, population.live)
    }

    /// Who drives rollouts now, by the rollout's ID.
    package func drivers() async throws(FleetRefusal) -> [String: FleetDriver] {
        var drivers: [String: FleetDriver] = [:]
        for pair in try await range(.prefix(keys.drivers)).keys {
            let id = String(decoding: pair.key.dropFirst(keys.drivers.count), as: UTF8.self)
            drivers[id] = try? FleetDriver(pair.value)
        }
        return drivers
    }
}
