// Runs the examples of HTTPAPI.md with curl against a server.

import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport

extension DocumentedBlock {
    static let http = all("curl-transcript", of: "Sources/TweaksPanel/TweaksPanel.docc/HTTPAPI.md")
}

@Suite(.blocking, .enabled(if: Tool.curl.exists)) struct HTTPAPIDocumentTests {
    @Test func theDocumentHasExamples() { #expect(DocumentedBlock.http.count >= 9) }

    @Test(arguments: DocumentedBlock.http) func everyExampleHasTheDocumentedOutput(_ block: DocumentedBlock) throws {
        let server = TweakServer(panel: .on, name: "example", registry: ExampleTweaks().registry)
        try server.start()
        defer { server.stop() }
        let (port, token) = (try #require(server.endpointPort), try #require(server.panelToken))
        let setting = "PANEL=http://127.0.0.1:\(port); TOKEN=\(token); "
        for step in Self.steps(block.text) {
            let text = try Tool.sh.run(["-c", setting + step.command], input: "")
            // An event ends with an empty line.
            let lines = text.splitLines().filter { !$0.isEmpty }
            #expect(lines.count == step.answers.count, "\(step.command)\n\(text)")
            for (line, pattern) in zip(lines, step.answers) {
                #expect(Transcript.fits(line, pattern), "\(step.command)\n  got      \(line)\n  expected \(pattern)")
            }
        }
    }

    private static func steps(_ text: String) -> [(command: String, answers: [String])] {
        var steps: [(command: String, answers: [String])] = []
        for line in text.splitLines() where !line.isEmpty {
            if line.hasPrefix("$ ") {
                steps.append((String(line.dropFirst(2)), []))
            } else if !steps.isEmpty {
                steps[steps.count - 1].answers.append(line)
            }
        }
        return steps
    }
}
