// Tests that the panel's page reports a stopped process, which keeps its connections.

import Foundation
import Testing
import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser, .enabled(if: Child.exists, "TweaksCrashProbe was not built"))
struct StoppedPanelTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func thePageReportsAStoppedProcessUntilItContinues() throws {
        let child = try Child(in: directory.path, [], ["TWEAKS_PANEL_PORT": "0"])
        try child.waitUntilReady()
        let browser = try Browser()
        let link = try String(contentsOfFile: directory.file("probe.sock.panel"), encoding: .utf8)
        try browser.open(link.trimmingCharacters(in: .whitespacesAndNewlines))
        let state = "document.documentElement.dataset.state"
        try browser.wait(until: "\(state) === 'connected' && document.querySelector('.row[data-kind=int]') != null")
        child.signal(SIGSTOP)
        // A value that is sent now stays pending.
        try browser.run("document.querySelector('.row[data-kind=int]').row.send({ value: '5' })")
        // For some seconds; then it takes the connection for lost.
        let label = "document.getElementById('state').textContent === 'Not responding'"
        try browser.wait(
            until: "\(state) === 'silent' && \(label) && document.querySelector('.row[data-pending]') != null")
        child.signal(SIGCONT)
        try browser.wait(until: "\(state) === 'connected' && document.querySelector('.row[data-pending]') == null")
    }
}
