// Tests the files of the container, and runs its command without Docker: read-only, as another user, with real HTTP.

import Foundation
import NeighborsTestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct ContainerTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../hummingbird").standardizedFileURL.path
    private static let password = "correct-horse-battery-staple"

    // MARK: Files

    /// The instructions of the Dockerfile, with their arguments.
    private static func instructions() throws -> [(name: String, words: String)] {
        try String(contentsOfFile: folder + "/Dockerfile", encoding: .utf8)
            .replacing("\\\n", with: " ").split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { line in
                let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }
    }

    @Test func theDockerfileHasTheInstructionsOfASmallImage() throws {
        let all = try Self.instructions()
        let known: Set = ["FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "ENTRYPOINT"]
        for (name, words) in all { #expect(known.contains(name) && !words.isEmpty, "\(name) \(words)") }
        let images = all.filter { $0.name == "FROM" }.map(\.words)
        #expect(images.count == 2 && images.allSatisfy { $0.contains(":") && !$0.contains(":latest") })
        // What runs is of the last stage: one program, as no one in particular.
        let last = all[(all.lastIndex { $0.name == "FROM" } ?? 0)...]
        let copied = last.filter { $0.name == "COPY" }.map(\.words)
        #expect(copied == ["--from=build /out/quotes-site /usr/local/bin/quotes-site"])
        #expect(last.contains { $0.name == "USER" && $0.words.split(separator: ":").allSatisfy { Int($0) ?? 0 > 0 } })
        #expect(last.contains { $0.name == "ENTRYPOINT" && $0.words == "[\"/usr/local/bin/quotes-site\"]" })
    }

    @Test(.enabled(if: (try? run(["python3", "-c", "import yaml"])) != nil, "python3-yaml is not installed"))
    func theManifestsAreOfOneRestrictedPod() throws {
        let script = """
            import sys, yaml
            docs = {doc["kind"]: doc for doc in yaml.safe_load_all(open(sys.argv[1]))}
            assert set(docs) == {"ConfigMap", "Deployment", "Service"}, docs.keys()
            assert all(doc["apiVersion"] and doc["metadata"]["name"] == "quotes" for doc in docs.values())
            deployment, service = docs["Deployment"]["spec"], docs["Service"]["spec"]
            # What is set on the page is one pod's, and a pod gets requests until a moment after it is told to end.
            assert deployment["replicas"] == 1
            labels, pod = deployment["template"]["metadata"]["labels"], deployment["template"]["spec"]
            assert deployment["selector"]["matchLabels"] == labels == service["selector"]
            # The restricted level of the pod security standards.
            context, (container,) = pod["securityContext"], pod["containers"]
            assert context["runAsNonRoot"] and context["runAsUser"] > 0
            assert context["seccompProfile"]["type"] == "RuntimeDefault"
            own = container["securityContext"]
            assert own["readOnlyRootFilesystem"] is True and own["allowPrivilegeEscalation"] is False
            assert own["capabilities"]["drop"] == ["ALL"]
            assert container["lifecycle"]["preStop"]["sleep"]["seconds"] < pod["terminationGracePeriodSeconds"]
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            assert service["ports"][0]["targetPort"] in ports
            for probe in ["startupProbe", "readinessProbe", "livenessProbe"]:
                assert container[probe]["httpGet"]["port"] in ports and container[probe]["httpGet"]["path"][0] == "/"
            volumes = {volume["name"]: volume for volume in pod["volumes"]}
            mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
            assert set(volumes) == set(mounts) and not any("subPath" in mount for mount in mounts.values())
            assert volumes["config"]["configMap"]["name"] == docs["ConfigMap"]["metadata"]["name"]
            assert mounts["config"]["readOnly"] and "emptyDir" in volumes["state"]
            print(sorted(mount["mountPath"] for mount in mounts.values()), docs["ConfigMap"]["data"]["quotes.conf"])
            """
        let output = try run(["python3", "-c", script, Self.folder + "/kubernetes.yaml"])
        // Where the image looks for them.
        #expect(output.hasPrefix("['/config', '/state'] HTTP/Limits/Rate = 500\n"), "\(output)")
        let environment = try Self.instructions().first { $0.name == "ENV" }?.words ?? ""
        #expect(environment.contains("TWEAKS_CONFIG=/config/quotes.conf TWEAKS_STATE_DIR=/state/quotes "))
    }

    // MARK: The command

    /// A directory as kubelet makes it from a config map.
    private static func project(_ text: String, in directory: String, _ version: Int) throws {
        let script = """
            cd "$1" && mkdir ..v$2 && printf '%s\\n' "$3" > ..v$2/quotes.conf && ln -s ..v$2 ..data_tmp \
            && mv -T ..data_tmp ..data && ([ -L quotes.conf ] || ln -s ..data/quotes.conf quotes.conf)
            """
        _ = try run(["sh", "-c", script, "sh", directory, "\(version)", text])
    }

    /// Whether this process may remount and become another user.
    private static let isPrivileged =
        geteuid() == 0 && (try? run(["unshare", "-m", "mount", "-o", "remount,ro,bind", "/"])) != nil

    /// The command of the container with its environment, whose two directories are elsewhere.
    private static func command(_ home: String) throws -> (words: [String], variables: [String: String]) {
        var variables = ["QUOTES_USERS": "ada:\(password):admin", "TMPDIR": "/nowhere", "HOME": "/nowhere"]
        for pair in try instructions().first(where: { $0.name == "ENV" })?.words.split(separator: " ") ?? [] {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            variables[parts[0]] = parts[1].replacing("/config", with: home + "/config")
                .replacing("/state", with: home + "/state")
        }
        variables["QUOTES_PORT"] = "0"
        variables["QUOTES_ORIGINS"] = "http://quotes.example.org"
        guard isPrivileged else { return ([built("quotes-site")], variables) }
        // All is read-only but the one volume, and the user is of no one.
        let script = """
            mount --make-rprivate / && mount --bind "$1/state" "$1/state" && mount -o remount,ro,bind / \
            && shift && exec setpriv --reuid 24817 --regid 24817 --clear-groups --bounding-set -all "$@"
            """
        return (["unshare", "-m", "sh", "-c", script, "sh", home, built("quotes-site")], variables)
    }

    private static func curl(_ words: [String]) throws -> String {
        try run(["curl", "-sS", "--max-time", "30", "-u", "ada:\(password)"] + words)
    }

    @Test func theCommandOfTheContainerServesAndFollowsItsConfigMap() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        _ = try run(["sh", "-c", "chmod 755 \"$1\" && cd \"$1\" && mkdir config state && chmod 777 state", "sh", home])
        try Self.project("HTTP/Limits/Rate = 500", in: home + "/config", 1)
        let (words, variables) = try Self.command(home)
        let service = try Running(words, variables)
        let port = try await service.number(after: "listening on 0.0.0.0:")
        let site = "http://127.0.0.1:\(port)"
        #expect(try Self.curl([site + "/healthz"]) == "ok")
        #expect(try Self.curl([site + "/readyz"]) == "ready")
        #expect(try Self.curl([site + "/tweaks/api/tweaks?pattern=HTTP/Limits/Rate"]).contains("\"value\":500"))
        // Events stream, and the swap of the config map is one of them.
        let events = try Running(["curl", "-sN", "-u", "ada:\(Self.password)", site + "/tweaks/api/events"])
        try await events.wait(for: "event: snapshot")
        try Self.project("HTTP/Limits/Rate = 250", in: home + "/config", 2)
        try await events.wait(for: "\"path\":\"HTTP/Limits/Rate\",\"kind\":\"number\",\"value\":250")
        // A value that is set changes what the service does, and is stored in the one writable directory.
        let change = #"{"changes":[{"path":"HTTP/Service/Maintenance","value":true}]}"#
        let json = ["-X", "PATCH", "-H", "Content-Type: application/json", "-H", "Origin: http://quotes.example.org"]
        let reply = try Self.curl(json + ["-d", change, site + "/tweaks/api/tweaks"])
        #expect(reply.hasPrefix("{\"ok\":true") && !reply.contains("unsaved"), "\(reply)")
        try await events.wait(for: "HTTP/Service/Maintenance")
        #expect(try Self.curl(["-o", "/dev/null", "-w", "%{http_code}", site + "/quotes/A"]) == "503")
        #expect(try !FileManager.default.contentsOfDirectory(atPath: home + "/state").isEmpty)
        // An orderly end: the stream is told, and does not hold up the end.
        #expect(service.stop() == 0)
        try await events.wait(for: "event: closing")
    }
}
