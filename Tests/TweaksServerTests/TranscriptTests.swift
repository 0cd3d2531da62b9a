// Conversations about values: typed in turn, sent at once, and byte by byte.

import Testing
import TweaksTestSupport

/// Replays a conversation in every manner, over every transport, each time against a server of its own.
func replay(_ text: String, at location: SourceLocation = #_sourceLocation) throws {
    let transcript = Transcript(text)
    for manner in Transcript.Manner.allCases {
        for transport in Transport.available {
            let client = try TestServer().connect(transport)
            // telnet ends its lines by CR LF, and wants to be answered so.
            let lineEnd = transport == .unix ? "\n" : "\r\n"
            try transcript.replay(manner, with: client, lineEnd: lineEnd, at: location)
        }
    }
}

@Suite(.blocking) struct TranscriptTests {
    @Test func get() throws {
        try replay(
            """
            > get Content/Text/Size
            Content/Text/Size = 60      # number 10...100 step 0.5 pt
            ok
            > get Content/Text
            Content/Text/Size = 60                   # number 10...100 step 0.5 pt
            Content/Text/String = "Tweaks"           # string
            Content/Text/Color = #000000FF           # color
            Content/Text/Alignment = left            # choice left|center|right
            Content/Text/Fade = 250ms                # duration 0s...5s
            "Content/Text/Font Name" = "Avenir Next" # string
            ok
            > get Player Content/Text/S*
            Content/Text/Size = 60         # number 10...100 step 0.5 pt
            Content/Text/String = "Tweaks" # string
            Player/Audio/Mute = (action)   # action
            Player/Audio/Token = (unset)   # string, secret
            Player/Status/Frames = 0       # number, read-only
            ok
            > get "Content/Text/Font Name"
            "Content/Text/Font Name" = "Avenir Next" # string
            ok
            > get Content/Text/Size Content/Text/Sise
            error unknown-tweak there is no tweak “Content/Text/Sise”; did you mean Content/Text/Size?
            > get Nothing
            error unknown-tweak …
            > get
            error usage get: write get PATTERN…, as in: get Content/Text/*
            """)
    }

    @Test func set() throws {
        try replay(
            """
            > set Content/Text/Size 72
            Content/Text/Size = 72      # was 60
            ok rev 1
            > Content/Text/Size = 72
            ok rev 1 unchanged
            > get Content/Text/Size
            Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60
            ok
            > Content/Text/Size += 8
            Content/Text/Size = 80      # was 72
            ok rev 2
            > Content/Text/Size -= 0.5
            Content/Text/Size = 79.5    # was 80
            ok rev 3
            > "Content/Text/Font Name" = 'Gill Sans'
            "Content/Text/Font Name" = "Gill Sans" # was "Avenir Next"
            ok rev 4
            > Content/Text/Color = #FF8800
            Content/Text/Color = #FF8800FF # was #000000FF
            ok rev 5
            > set Content/Text/Fade 1.5s
            Content/Text/Fade = 1.5s    # was 250ms
            ok rev 6
            > set Content/Text/Size 500
            error out-of-range Content/Text/Size: 500 is outside 10...100
            > set Content/Text/Size 60.3
            error out-of-range Content/Text/Size: 60.3 is not on a step of 0.5 from 10; the nearest is 60.5
            > set Content/Text/Alignment centre
            error not-a-choice Content/Text/Alignment: “centre” is none of left, center, right; did you mean center?
            > set Content/Text/Size large
            error bad-value Content/Text/Size: “large” is no number; write a finite number such as 72 or 1.5e3, in 10...100
            > set Content/Text/Size two words
            error usage write set Content/Text/Size "two words" (quote a value of several words)
            > set Content/Text/Size toggle
            error bad-value Content/Text/Size is a number; only a bool can be toggled
            > set Player/Status/Frames 5
            error read-only Player/Status/Frames is a figure that the program publishes; it cannot be set
            > set Player/Audio/Mute on
            error bad-value Player/Audio/Mute is an action and has no value; use: run Player/Audio/Mute
            > Content/Text/Sise = 1
            error unknown-tweak there is no tweak “Content/Text/Sise”; did you mean Content/Text/Size?
            > Content/Text/Size=1
            error usage write Content/Text/Size = 1 (put spaces around =)
            """)
    }

    /// Its value appears in no answer: not when it is set, and not in an error.
    @Test func secret() throws {
        try replay(
            """
            > set Player/Audio/Token hunter2
            Player/Audio/Token = (set)  # was (unset)
            ok rev 1
            > get Player/Audio/Token
            Player/Audio/Token = (set)  # string, secret
            ok
            > explain Player/Audio/Token
                default            (unset)  by code at …
              → override           (set)  by …
            ok
            > describe Player/Audio/Token
              path: Player/Audio/Token
              kind: string
              value: null
              set: true
              modified: true
              flags: secret
              source: …
            ok
            > export Player
            ok
            > check Player/Audio/Token hunter3
            Player/Audio/Token = (set)  # was (set)
            ok rev 1 checked
            > Player/Audio/Token += hunter4
            error bad-value Player/Audio/Token is a string; += and -= are for int, number and duration, within 64 bits
            """)
    }

    @Test func reset() throws {
        try replay(
            """
            > set Content/Text/Size 72
            Content/Text/Size = 72      # was 60
            ok rev 1
            > set Content/Text/Fade 1s
            Content/Text/Fade = 1s      # was 250ms
            ok rev 2
            > reset Content
            Content/Text/Size = 60      # was 72
            Content/Text/Fade = 250ms   # was 1s
            ok rev 3
            > reset Content
            ok rev 3 unchanged
            > reset Player/Audio/Mute
            error bad-value Player/Audio/Mute is an action and has no value; use: run Player/Audio/Mute
            > reset Player/Status/Frames
            error read-only Player/Status/Frames is a figure that the program publishes; it cannot be set
            > reset Nothing
            error unknown-tweak …
            > reset
            error usage reset: write reset PATTERN…, as in: reset Content
            """)
    }

    @Test func check() throws {
        try replay(
            """
            > check Content/Text/Size 72
            Content/Text/Size = 72      # was 60
            ok rev 0 checked
            > check Content/Text/Size 500
            error out-of-range Content/Text/Size: 500 is outside 10...100
            > check Content/Text/Size 60
            Content/Text/Size = 60      # was 60
            ok rev 0 checked
            > check Player/Status/Frames 5
            error read-only …
            > check Content/Text/Size
            error usage check: write check PATH VALUE, as in: check A/B/C 5
            > get Content/Text/Size
            Content/Text/Size = 60      # number 10...100 step 0.5 pt
            ok
            """)
    }
}
