// Replays conversations about the session and the server: batches, actions, help, modes, and lines that do nothing.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct SessionTranscriptTests {
    private static let conversations = Conversation.all(
        """
        ## begin, commit and abort make a batch
        > begin
        ok rev 0
        > set Content/Text/Size 72
        ok queued
        > Content/Text/String = Hello
        ok queued
        > get Content/Text/Size
        Content/Text/Size = 60      # number 10...100 step 0.5 pt
        ok
        > commit
        Content/Text/Size = 72        # was 60
        Content/Text/String = "Hello" # was "Tweaks"
        ok rev 1
        > begin 1
        ok rev 1
        > reset Content
        ok queued
        > begin
        error usage a batch is open already; commit or abort it first
        > abort
        ok aborted 6
        > commit
        error usage commit: no batch is open; begin opens one
        > abort
        error usage abort: no batch is open; begin opens one
        > begin x
        error usage begin [REV], as in: begin 43
        ## run runs an action
        > run Player/Audio/Mute
          muted
        ok
        > run Player/Audio/Mute now "with arguments"
          muted
        ok
        > run Content/Text/Size
        error not-an-action …
        > run Player/Audio/Mule
        error unknown-tweak there is no tweak “Player/Audio/Mule”; did you mean Player/Audio/Mute?
        > run
        error usage run PATH [ARGUMENT…], as in: run Player/Audio/Mute now
        > ping
        ok pong
        ## help explains one command
        > help set
          set PATH VALUE [for DURATION]
            set one tweak, permanently or for a time; PATH = VALUE does the same, += and -= add, toggle flips
            example: set Content/Text/Size 72 for 10m
        ok
        > help sett
        error unknown-command “sett” is not a command; did you mean set?
        > help a b
        error usage help [command], as in: help set
        ## hello describes the server
        > hello 1
          name: example
          pid: …
          instance: …
          protocol: 1
          rev: 0
          limits: line 65536, batch 10000, watches 100, sessions 4096
          features: json
          features: watch
          features: since
          features: batch
          features: check
          features: complete
          features: actions
          features: temporary
          features: as
          features: mine
        ok
        > hello
        error usage hello VERSION [json], as in: hello 1 json
        > hello 0
        error usage …
        > hello 1 xml
        error usage …
        ## stats shows the state of the server
        > stats
          name: example
          pid: …
          uptimeSeconds: …
          rev: 0
          commitsPerSecond: 0
          commitsPerSecondOver: …
          tweaks: 9
          modified: 0
          temporary: 0
          conflicts: 0
          frozen: false
          sessions: 1
          watchers: 0
          connections: 1
          requests: 1
          errors: 0
          undeliveredObservers: …
          deliveryLagMilliseconds: …
          runningObservers: none
          observerThreads: 8
          listeners: …socket own user and root, 127.0.0.1:… open…
          tokens: off
          limits: …
          heldBytes: …
          limitsHit: none
        ok
        > stats now
        error usage …
        ## complete lists candidates for a line
        > complete "se"
          set
          sessions
        ok
        > complete "set Con"
          Content/
        ok
        > complete "set Content/Text/S"
          Content/Text/Size
          Content/Text/String
        ok
        > complete "set Content/Text/Alignment "
          left
          center
          right
        ok
        > complete nothing
        ok
        ## comments and status lines do nothing, and commands are case-sensitive
        > ping
        ok pong
        > # a comment
        > ok rev 43
        > \u{20}
        > ping # and a comment behind
        ok pong
        > conflicts
        ok
        > GET Content/Text/Size
        error unknown-command “GET” is not a command; did you mean get?
        > "get" Content/Text/Size
        error usage …
        > unwatch
        ok watching 0
        > unwatch Content
        error unknown-tweak “Content” is not watched; nothing is
        > ping pong
        error usage ping, as in: ping
        > quit
        ok
        ## json, hello and prompt change the mode
        > json
        {"ok":true}
        > ping
        {"ok":true,"pong":true}
        > json off
        ok
        > hello 1 json
        {"ok":true,"name":"example","pid":…,"features":[…]}
        > prompt on
        {"ok":true}
        > json off
        ok
        > ping
        ok pong
        > prompt off
        ok
        > ping
        ok pong
        > json maybe
        error usage json [on|off|text], as in: json on
        """)

    @Test(arguments: conversations) func sessionsAreControlled(_ conversation: Conversation) throws {
        try conversation.replay()
    }

    @Test func helloOfANewerVersionIsAnsweredAlike() throws {
        let client = try TestServer().connect()
        let (reply, newer) = (try client.ask("hello 1"), try client.ask("hello 7"))
        #expect(newer.map { $0.prefix { $0 != ":" } } == reply.map { $0.prefix { $0 != ":" } })
        for line in ["  name: example", "  protocol: 1", "  rev: 0", "ok"] { #expect(newer.contains(line)) }
    }

    @Test(arguments: ["get A/B/s", "A/B/s = 5", "ls A"]) func anEmptyRegistryIsCalledEmpty(_ line: String) throws {
        let status = try TestServer(registry: TweakRegistry()).connect().status(line)
        #expect(status.hasPrefix("error unknown-tweak "))
        #expect(status.hasSuffix("; there are no tweaks yet"), "\(status)")
    }

    @Test func helpListsEveryCommand() throws {
        let lines = try TestServer().connect().ask("help")
        let names = lines.dropLast().compactMap { $0.split(separator: " ").first }
        let expected =
            "help ls get set keep reset check find modified describe explain watch unwatch samples run begin commit abort "
            + "export conflicts reload history undo redo complete stats hello json prompt ping quit save load presets "
            + "delete diff swap auth as panel whoami drop request sessions kick drag preview"
        #expect(names.sorted() == expected.split(separator: " ").sorted())
        #expect(lines.last == "ok")
    }
}
