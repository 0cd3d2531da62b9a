// Exempts etcd's hosts from the proxies that environment variables name.

internal import Foundation
internal import Synchronization

/// On Linux, URLSession does not hand `connectionProxyDictionary` on to libcurl, which reads `http_proxy`, `https_proxy` and
/// `all_proxy` by itself, for each request. What it also reads is `no_proxy`; so the hosts are added there. That is a change
/// of the process's environment: it is made only where a proxy is named, and concerns these hosts alone.
enum ProxyExemption {
    private static let lock = Mutex(())
    private static let proxies = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    /// Makes connections to hosts direct ones.
    static func exempt(_ hosts: [String]) {
        #if canImport(FoundationNetworking)
            lock.withLock { _ in
                guard let list = noProxy(for: hosts, in: ProcessInfo.processInfo.environment) else { return }
                setenv("no_proxy", list, 1)
            }
        #endif
    }

    /// What `no_proxy` has to be; nil: as it is.
    static func noProxy(for hosts: [String], in environment: [String: String]) -> String? {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard proxies.contains(where: { value($0) != nil }) else { return nil }
        let current = value("no_proxy") ?? value("NO_PROXY") ?? ""
        if current.trimmingCharacters(in: .whitespaces) == "*" { return nil }
        let listed = current.split { $0 == "," || $0 == " " }.map(String.init)
        let missing = hosts.filter { !listed.contains($0) }
        return missing.isEmpty ? nil : (listed + missing).joined(separator: ",")
    }
}
