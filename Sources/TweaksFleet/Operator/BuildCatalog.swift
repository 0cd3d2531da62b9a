// Holds the declarations of a fleet's builds and validates values against them.

package import Tweaks

/// A build that would refuse a value.
package struct BuildRefusal: Hashable, Sendable {
    package var build: String
    /// The number of processes that run it now.
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

/// The builds of a fleet, sorted by descending number of processes.
package struct BuildCatalog: Sendable {
    struct Entry: Sendable {
        var hash: String
        var live: Int
        var build: FleetBuild
    }

    let entries: [Entry]
    /// Unreadable keys, with the reason for each.
    package let unreadable: [String: String]
    /// The number of processes whose build has no declarations here.
    package let undeclaredProcesses: Int

    package init(_ result: EtcdRangeResult, _ keys: FleetKeys, _ live: [LiveInstance]) {
        let counts = Dictionary(grouping: live, by: \.status.build).mapValues(\.count)
        var entries: [Entry] = []
        var unreadable: [String: String] = [:]
        for pair in result.keys {
            let hash = String(decoding: pair.key.dropFirst(keys.builds.count), as: UTF8.self)
            do throws(FleetProblem) {
                entries.append(Entry(hash: hash, live: counts[hash] ?? 0, build: try FleetBuild(pair.value)))
            } catch {
                unreadable[hash] = error.description
            }
        }
        self.entries = entries.sorted { ($1.live, $0.hash) < ($0.live, $1.hash) }
        self.unreadable = unreadable
        undeclaredProcesses = live.count - entries.reduce(0) { $0 + $1.live }
    }

    package var hashes: [String] { entries.map(\.hash) }

    /// Whether a build left out declarations because of the size limit, so that a missing path may still be declared.
    package var isPartial: Bool { entries.contains { $0.build.isPartial } }

    /// Rejects conditions on figures that no build publishes, since missing data would pause the rollout.
    package func check(_ conditions: [MetricCondition]) throws(FleetRefusal) {
        if entries.isEmpty || isPartial { return }
        for condition in conditions where kinds(of: condition.path).isEmpty {
            throw FleetRefusal(
                .refused, "--abort-if: no build has \(condition.path.token); correct the path, or use --new")
        }
    }

    /// Whether a build is known to lack a path.
    package func lacks(_ path: TweakPath, build hash: String) -> Bool {
        guard let build = entries.first(where: { $0.hash == hash })?.build, !build.isPartial else { return false }
        return build.definition(of: path) == nil
    }

    /// The kinds that builds declare for a path, the most common first.
    func kinds(of path: TweakPath) -> [(kind: TweakKind, component: TweakKind?)] {
        entries.compactMap { entry in
            entry.build.definition(of: path).map { ($0.kind, $0.component?.kind) }
        }
    }

    /// Returns the builds that would refuse a value. Builds that lack the path accept it, and builds without processes
    /// are ignored if any build has processes.
    package func refusals(of assignment: FleetAssignment) -> [BuildRefusal] {
        let hasLive = entries.contains { $0.live > 0 }
        return entries.filter { $0.live > 0 || !hasLive }.compactMap { entry in
            guard let reason = entry.build.validate(assignment.value, for: assignment.path) else { return nil }
            return BuildRefusal(build: entry.hash, live: entry.live, path: assignment.path, reason: reason)
        }
    }
}

extension FleetOperator {
    /// Reads the builds, with the number of processes that run each.
    package func builds() async throws(FleetRefusal) -> BuildCatalog {
        let statuses = try await instanceStatuses()
        return BuildCatalog(try await range(.prefix(keys.builds)), keys, statuses.live)
    }

    /// Reads the current drivers of rollouts, by rollout ID.
    package func drivers() async throws(FleetRefusal) -> [String: FleetDriver] {
        var drivers: [String: FleetDriver] = [:]
        for pair in try await range(.prefix(keys.drivers)).keys {
            let id = String(decoding: pair.key.dropFirst(keys.drivers.count), as: UTF8.self)
            drivers[id] = try? FleetDriver(pair.value)
        }
        return drivers
    }
}
