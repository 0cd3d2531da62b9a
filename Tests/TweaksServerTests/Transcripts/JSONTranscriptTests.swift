// Replays a conversation for every command in JSON: one object a line, errors and events included.

import Testing
import TweaksTestSupport

@Suite(.blocking) struct JSONTranscriptTests {
    private static let conversations = Conversation.all(
        #"""
        ## get has the definition and value of each tweak
        > get Content/Text/Size
        {"ok":true,…"tweaks":[{"path":"Content/Text/Size","kind":"number","value":60,"default":60,"modified":false,"min":10,"max":100,"step":0.5,"unit":"pt","help":"Label size"}]}
        > get Content/Text/Fade Content/Text/Color
        {"ok":true,…"tweaks":[{"path":"Content/Text/Color","kind":"color","value":"#000000FF","default":"#000000FF","modified":false},{"path":"Content/Text/Fade","kind":"duration","value":"250ms","default":"250ms","modified":false,"min":"0s","max":"5s"}]}
        > get Player/Audio
        {"ok":true,…"tweaks":[{"path":"Player/Audio/Mute","kind":"action"},{"path":"Player/Audio/Token","kind":"string","value":null,"set":false,"modified":false,"flags":["secret"]}]}
        > get Content/Text/Alignment
        {"ok":true,…"choices":[{"name":"left","label":null},{"name":"center","label":null},{"name":"right","label":null}]}]}
        > get Content/Text/Sise
        {"ok":false,"error":{"code":"unknown-tweak","message":"there is no tweak “Content/Text/Sise”; did you mean Content/Text/Size?"}}
        > get
        {"ok":false,"error":{"code":"usage","message":"get PATTERN…, as in: get Content/Text/*"}}
        ## text beside JSON ends with another choice
        > json text
        {"ok":true,"text":["ok"]}
        > ping
        {"ok":true,"pong":true,"text":["ok pong"]}
        > hello 1 json
        {"ok":true,"name":…}
        > ping
        {"ok":true,"pong":true}
        ## changes have the new and the previous value
        > set Content/Text/Size 72
        {"ok":true,"rev":1,"tweaks":[{"path":"Content/Text/Size","kind":"number","value":72,"was":60}]}
        > Content/Text/Size = 72
        {"ok":true,"rev":1,"unchanged":true}
        > "Content/Text/Font Name" = "\u0041\"\n\u2028"
        {"ok":true,"rev":2,"tweaks":[{"path":"Content/Text/Font Name","kind":"string","value":"A\"\n\u2028","was":"Avenir Next"}]}
        > Player/Audio/Token = hunter2
        {"ok":true,"rev":3,"tweaks":[{"path":"Player/Audio/Token","kind":"string","value":null,"set":true,"was":null}]}
        > set Content/Text/Size 500
        {"ok":false,"error":{"code":"out-of-range","message":"Content/Text/Size: 500 is outside 10...100","path":"Content/Text/Size"}}
        > check Content/Text/Size 80
        {"ok":true,"rev":3,"tweaks":[{"path":"Content/Text/Size","kind":"number","value":80,"was":72}]}
        > reset Content
        {"ok":true,"rev":4,"tweaks":[{"path":"Content/Text/Size","kind":"number","value":60,"was":72},{"path":"Content/Text/Font Name",…}]}
        > Content/Text/Size=1
        {"ok":false,"error":{"code":"usage",…}}
        > nonsense
        {"ok":false,"error":{"code":"unknown-command","message":"“nonsense” is not a command; type help"}}
        > "open
        {"ok":false,"error":{"code":"bad-quoting",…}}
        ## a batch has its revision
        > begin
        {"ok":true,"rev":0}
        > Content/Text/Size = 72
        {"ok":true,"queued":true}
        > Content/Text/Fade = 1s
        {"ok":true,"queued":true}
        > commit
        {"ok":true,"rev":1,"tweaks":[{"path":"Content/Text/Size",…"was":60},{"path":"Content/Text/Fade",…"was":"250ms"}]}
        > begin 1
        {"ok":true,"rev":1}
        > abort
        {"ok":true,"aborted":0}
        > commit
        {"ok":false,"error":{"code":"usage",…}}
        ## ls, find, describe, explain and complete have their results
        > ls
        {"ok":true,"entries":[{"name":"Content","prefix":"Content","tweaks":6,"modified":0},{"name":"Player","prefix":"Player","tweaks":3,"modified":0}]}
        > ls Player
        {"ok":true,"entries":[{"name":"Audio","prefix":"Player/Audio","tweaks":2,"modified":0},{"name":"Status","prefix":"Player/Status","tweaks":1,"modified":0}]}
        > find frames
        {"ok":true,"rev":0,"tweaks":[{"path":"Player/Status/Frames","kind":"number","value":0,"default":0,"modified":false,"flags":["read-only"]}]}
        > modified
        {"ok":true,"rev":0,"tweaks":[]}
        > export Content/Text/S*
        {"ok":true,"rev":0,"tweaks":[{"path":"Content/Text/Size","kind":"number","value":60},{"path":"Content/Text/String","kind":"string","value":"Tweaks"}]}
        > describe Content/Text/Size
        {"ok":true,"path":"Content/Text/Size","kind":"number","value":60,"default":60,"modified":false,"min":10,"max":100,"step":0.5,"unit":"pt","help":"Label size","source":"TweaksTestSupport/…"}
        > explain Content/Text/Size
        {"ok":true,"layers":[{"layer":"default","overridden":false,"value":60,"by":"code","time":"…","current":true}]}
        > explain Player/Audio/Token
        {"ok":true,"layers":[{"layer":"default","overridden":false,"value":null,"by":"code","time":"…","current":true}]}
        > conflicts
        {"ok":true,"conflicts":[]}
        > complete "set Content/Text/S"
        {"ok":true,"candidates":["Content/Text/Size","Content/Text/String"]}
        ## session commands have their results
        > ping
        {"ok":true,"pong":true}
        > help ping
        {"ok":true,"commands":[{"name":"ping","usage":"ping","summary":"answers ok","example":"ping"}]}
        > help
        {"ok":true,"commands":[{"name":"help",…}]}
        > hello 1
        {"ok":true,"name":"example","pid":…,"instance":"…","protocol":1,"rev":0,"limits":{"line":65536,"batch":10000,"watches":100,"sessions":4096},"features":[…]}
        > stats
        {"ok":true,"name":"example","pid":…,"rev":0,"commitsPerSecond":0,"commitsPerSecondOver":…,"tweaks":9,"modified":0,"temporary":0,"conflicts":0,"frozen":false,…,"limitsHit":{}}
        > run Player/Audio/Mute
        {"ok":true,"output":"muted"}
        > run Content/Text/Size
        {"ok":false,"error":{"code":"not-an-action",…,"path":"Content/Text/Size"}}
        > unwatch
        {"ok":true,"watching":0}
        > prompt
        {"ok":true}
        > prompt off
        {"ok":true}
        > quit
        {"ok":true}
        ## the refusal of another protocol is an object, too
        > GET / HTTP/1.1
        {"ok":false,"error":{"code":"unknown-command",…}}
        ## a temporary override has its remaining time
        > set Content/Text/Size 72 for 10m
        {"ok":true,"rev":1,"tweaks":[{"path":"Content/Text/Size","kind":"number","value":72,"was":60,"temporary":true,"timeLeft":"10m"}]}
        > get Content/Text/Size
        {"ok":true,"rev":1,"tweaks":[{"path":"Content/Text/Size","kind":"number","value":72,…,"temporary":true,"timeLeft":"…"}]}
        > explain Content/Text/Size
        {"ok":true,"layers":[{"layer":"default",…},{"layer":"temporary override","overridden":true,"value":72,"by":"…","time":"…","current":true,"temporary":true,"timeLeft":"…"}]}
        """#)

    @Test(arguments: conversations) func everyReplyIsOneObject(_ conversation: Conversation) throws {
        try conversation.replayJSON()
    }

    private static let watching = Conversation.all(
        #"""
        ## a watch has values and events
        > hello 1 json
        {"ok":true,…}
        > watch Content/Text/Size Player/Audio/Token
        {"ok":true,"rev":0,"watching":2,"tweaks":[{"path":"Content/Text/Size",…},{"path":"Player/Audio/Token",…}]}
        > Content/Text/Size = 72
        {"ok":true,"rev":1,"tweaks":[…]}
        {"event":"change","rev":1,"path":"Content/Text/Size","kind":"number","value":72,"was":60,"by":"…","layer":"override","overridden":true}
        > Player/Audio/Token = hunter2
        {"ok":true,"rev":2,"tweaks":[…]}
        {"event":"change","rev":2,"path":"Player/Audio/Token","kind":"string","value":null,"set":true,"was":null,"by":"…","layer":"override","overridden":true}
        """#)

    @Test(arguments: watching, Transport.available)
    func eventsAreObjects(_ conversation: Conversation, _ transport: Transport) throws {
        try conversation.replay(in: ExampleTweaks().registry, over: transport)
    }
}
