// Replays conversations that find and explain tweaks: ls, describe, explain, find, modified, export.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct FindingTranscriptTests {
    private static let conversations = Conversation.all(
        """
        ## ls counts the tweaks of each part
        > ls
          Content  6 tweaks
          Player   3 tweaks
        ok
        > set Content/Text/Size 72
        Content/Text/Size = 72      # was 60
        ok rev 1
        > ls
          Content  6 tweaks, 1 modified
          Player   3 tweaks
        ok
        > ls Player
          Player/Audio   2 tweaks
          Player/Status  1 tweak
        ok
        > ls Player/Audio
        Player/Audio/Mute = (action) # action
        Player/Audio/Token = (unset) # string, secret
        ok
        > ls Content
          Content/Text  6 tweaks, 1 modified
        ok
        > ls Playr
        error unknown-tweak …
        > ls a b
        error usage ls [prefix], as in: ls Content
        ## a slash at the end of a path or pattern is skipped, as completion leaves it
        > ls Player/
          Player/Audio   2 tweaks
          Player/Status  1 tweak
        ok
        > get Player/Audio/
        Player/Audio/Mute = (action) # action
        Player/Audio/Token = (unset) # string, secret
        ok
        > get Content/Text/Size/
        Content/Text/Size = 60      # number 10...100 step 0.5 pt
        ok
        > watch Content/Text/Fade/ Player/
        Content/Text/Fade = 250ms    # duration 0s...5s
        Player/Audio/Mute = (action) # action
        Player/Audio/Token = (unset) # string, secret
        Player/Status/Frames = 0     # number, read-only
        ok rev 0 watching 4
        > unwatch Player
        ok watching 1
        > unwatch Content/Text/Fade/
        ok watching 0
        > set Content/Text/Size 72
        Content/Text/Size = 72      # was 60
        ok rev 1
        > modified Content/
        Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60
        ok
        > export Content/Text/Size/
        Content/Text/Size = 72
        ok
        > reset Content/
        Content/Text/Size = 60      # was 72
        ok rev 2
        > get Contemt/
        error unknown-tweak there is no tweak “Contemt”; …
        > drop run:Player/
        ok may write admin -admin:Player
        ## describe shows the definition of one tweak
        > describe Content/Text/Size
          path: Content/Text/Size
          kind: number
          value: 60
          default: 60
          modified: false
          min: 10
          max: 100
          step: 0.5
          unit: pt
          help: Label size
          source: TweaksTestSupport/ExampleTweaks.swift:…
        ok
        > describe Content/Text/Alignment
          path: Content/Text/Alignment
          kind: choice
          value: left
          default: left
          modified: false
          choices: name left
          choices: name center
          choices: name right
          source: …
        ok
        > describe Player/Audio/Mute
          path: Player/Audio/Mute
          kind: action
          source: …
        ok
        > describe Content/Text
        error ambiguous “Content/Text” names 6 tweaks; name one of them, such as Content/Text/Size
        > describe Nothing
        error unknown-tweak there is no tweak “Nothing”…
        > describe
        error usage describe PATH, as in: describe Content/Text/Size
        ## explain shows the layers of a value
        > explain Content/Text/Size
          → default            60  by code at …Z
        ok
        > set Content/Text/Size 72
        Content/Text/Size = 72      # was 60
        ok rev 1
        > explain Content/Text/Size
            default            60  by code at …Z
          → override           72  by …Z
        ok
        > explain Player/Audio/Mute
        ok
        > explain Nothing/At/All
        error unknown-tweak …
        ## find matches all words in paths, help and values
        > find size
        Content/Text/Size = 60      # number 10...100 step 0.5 pt
        ok
        > find LABEL
        Content/Text/Size = 60      # number 10...100 step 0.5 pt
        ok
        > find text fade
        Content/Text/Fade = 250ms   # duration 0s...5s
        ok
        > find "font name" avenir
        "Content/Text/Font Name" = "Avenir Next" # string
        ok
        > find "font name" helvetica
        ok
        > find colr
        Content/Text/Color = #000000FF # color
        ok
        > find
        error usage find TEXT…, as in: find size
        ## modified lists values that differ from their defaults
        > modified
        ok
        > set Content/Text/Size 72
        Content/Text/Size = 72      # was 60
        ok rev 1
        > set Content/Text/Fade 250ms
        Content/Text/Fade = 250ms   # was 250ms
        ok rev 2
        > modified
        Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60
        ok
        > modified Player
        ok
        > modified Nothing
        error unknown-tweak …
        ## export prints lines that can be sent back
        > export
        Content/Text/Size = 60
        Content/Text/String = "Tweaks"
        Content/Text/Color = #000000FF
        Content/Text/Alignment = left
        Content/Text/Fade = 250ms
        "Content/Text/Font Name" = "Avenir Next"
        ok
        > export Content/Text/S*
        Content/Text/Size = 60
        Content/Text/String = "Tweaks"
        ok
        > export Nothing
        error unknown-tweak …
        > export --modified
        ok
        > set Content/Text/Size 72
        Content/Text/Size = 72      # was 60
        ok rev 1
        > set Player/Audio/Token hunter2
        Player/Audio/Token = (set)  # was (unset)
        ok rev 2
        > set Content/Text/Fade 250ms
        Content/Text/Fade = 250ms   # was 250ms
        ok rev 3
        > export --modified
        Content/Text/Size = 72
        ok
        > export Player --modified
        ok
        > export '--modified'
        error unknown-tweak …
        """)

    @Test(arguments: conversations) func tweaksAreFoundAndExplained(_ conversation: Conversation) throws {
        try conversation.replay()
    }

    @Test func describeOfAGroupOfOneNamesItsTweak() throws {
        let registry = TweakRegistry()
        _ = Tweak("A", "B", "C", 1, registry: registry)
        let refusal = "error ambiguous “A/B” names 1 tweak; name it, such as A/B/C"
        #expect(try TestServer(registry: registry).connect().ask("describe A/B") == [refusal])
    }
}
