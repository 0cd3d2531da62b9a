// Replays conversations about values: reading, setting, resetting, undoing, and temporary overrides.

import Testing
import TweaksTestSupport

@Suite(.blocking) struct ValueTranscriptTests {
    private static let conversations = Conversation.all(
        """
        ## get shows values and their limits
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
        error usage get PATTERN…, as in: get Content/Text/*
        ## set and = change a value and refuse invalid ones
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
        error bad-value Content/Text/Size: “large” is not a number; write a finite number such as 72 or 1.5e3, in 10...100
        > set Content/Text/Size two words
        error usage quote a value of several words: set Content/Text/Size "two words"
        > set Content/Text/Size = 72
        Content/Text/Size = 72      # was 79.5
        ok rev 7
        > check Content/Text/Size = 79.5
        Content/Text/Size = 79.5    # was 72
        ok rev 7 checked
        > set Content/Text/String "= 6"
        Content/Text/String = "= 6" # was "Tweaks"
        ok rev 8
        > set Content/Text/Size += 2
        error usage it needs no set: Content/Text/Size += 2
        > Content/Text/Size: 72
        error usage = replaces the colon: Content/Text/Size = 72
        > Content/Text/Size 72
        error usage = is missing: Content/Text/Size = 72
        > Content/Text/Size
        error usage the value is missing: Content/Text/Size = VALUE; get Content/Text/Size shows it
        > Content/Text
        error unknown-command “Content/Text” is not a command; did you mean get Content/Text?
        > set Content/Text/Size toggle
        error bad-value Content/Text/Size is a number; only a bool can be toggled
        > set Player/Status/Frames 5
        error read-only Player/Status/Frames is a figure that the program publishes; it cannot be set
        > set Player/Audio/Mute on
        error bad-value Player/Audio/Mute is an action and has no value; use: run Player/Audio/Mute
        > Content/Text/Sise = 1
        error unknown-tweak there is no tweak “Content/Text/Sise”; did you mean Content/Text/Size?
        > Content/Text/Size=1
        error usage put spaces around =: Content/Text/Size = 1
        ## a forced undo goes past a change of a secret alone
        > Content/Text/Size = 72
        Content/Text/Size = 72      # was 60
        ok rev 1
        > Player/Audio/Token = abc
        Player/Audio/Token = (set)  # was (unset)
        ok rev 2
        > undo force
          Player/Audio/Token is a secret, and stays as it is
        ok rev 2 unchanged undid 2 by …
        > undo
        Content/Text/Size = 60      # was 72
        ok rev 3 undid 1 by …
        ## a path with blanks and without quotes is recognized
        > ping
        ok pong
        > Content/Text/Font Name = Arial
        error usage a path with blanks needs quotes: "Content/Text/Font Name" = Arial
        > Content/Text/Font Name=Arial
        error usage a path with blanks needs quotes: "Content/Text/Font Name" = Arial
        > Content/Text/Font Name Gill Sans
        error usage a path with blanks needs quotes: "Content/Text/Font Name" = "Gill Sans"
        > Content/Text/Font Name
        error usage a path with blanks needs quotes: get "Content/Text/Font Name"
        > set Content/Text/Font Name Arial
        error usage a path with blanks needs quotes: set "Content/Text/Font Name" Arial
        > set Content/Text/Font Name = Gill Sans
        error usage a path with blanks needs quotes: set "Content/Text/Font Name" "Gill Sans"
        > check Content/Text/Font Name Arial
        error usage a path with blanks needs quotes: check "Content/Text/Font Name" Arial
        > set Content/Text/Font Name
        error unknown-tweak a path with blanks needs quotes: set "Content/Text/Font Name" VALUE
        > get Content/Text/Font Name
        error unknown-tweak a path with blanks needs quotes: get "Content/Text/Font Name"
        > get Content/Text/Size Content/Text/Font Name
        error unknown-tweak a path with blanks needs quotes: get "Content/Text/Font Name"
        > reset Content/Text/Font Name
        error unknown-tweak a path with blanks needs quotes: reset "Content/Text/Font Name"
        > explain Content/Text/Font Name
        error usage a path with blanks needs quotes: explain "Content/Text/Font Name"
        > modified Content/Text/Font Name
        error usage a path with blanks needs quotes: modified "Content/Text/Font Name"
        > Content/Text/New Name = 5
        error usage a path with blanks needs quotes: "Content/Text/New Name" = VALUE
        > Content/Text/String a = b
        error usage = is missing: Content/Text/String = "a = b"
        > Content Text Size = 72
        error unknown-command paths have slashes: Content/Text/Size = 72
        > Content Text Font Name = Arial
        error unknown-command paths have slashes: "Content/Text/Font Name" = Arial
        > Player Audio Token = hunter2
        error unknown-command paths have slashes: Player/Audio/Token = VALUE
        > Content Size = 72
        error unknown-command paths have slashes: CATEGORY/COLLECTION/NAME = VALUE
        ## a suggestion fits what is expected
        > ping
        ok pong
        > ls Contnt
        error unknown-tweak there is no tweak “Contnt”; did you mean Content?
        > get Content/Txt
        error unknown-tweak there is no tweak “Content/Txt”; did you mean Content/Text?
        > ls Szie
        error unknown-tweak there is no tweak “Szie”; did you mean Content/Text/Size?
        > login
        error unknown-command “login” is not a command; did you mean auth?
        > exit
        error unknown-command “exit” is not a command; did you mean quit?
        > Shop
        error unknown-command “Shop” is not a command; type help
        ## the value of a secret is in no reply
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
        ## reset removes overrides
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
        error usage reset PATTERN…, as in: reset Content
        ## check validates without a change
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
        error usage check PATH VALUE, as in: check A/B/C 5
        > get Content/Text/Size
        Content/Text/Size = 60      # number 10...100 step 0.5 pt
        ok
        ## undo force and redo force skip what cannot be restored
        > undo force
        error conflict there is nothing to undo; history lists the last commits
        > begin
        ok rev 0
        > Player/Audio/Token = abc
        ok queued
        > Content/Text/Size = 72
        ok queued
        > undo force
        error usage a batch is open; commit or abort it first
        > commit
        Player/Audio/Token = (set)  # was (unset)
        Content/Text/Size = 72      # was 60
        ok rev 1
        > undo
        error conflict Player/Audio/Token is a secret, whose earlier value is not recorded; undo force undoes the rest; set Player/Audio/Token again
        > undo mine
        error conflict Player/Audio/Token is a secret, whose earlier value is not recorded; undo mine force undoes the rest; set Player/Audio/Token again
        > undo force
        Content/Text/Size = 60      # was 72
          Player/Audio/Token is a secret, and stays as it is
        ok rev 2 undid 1 by …
        > get Player/Audio/Token
        Player/Audio/Token = (set)  # string, secret
        ok
        > redo
        error conflict Player/Audio/Token is a secret, whose earlier value is not recorded; redo force redoes the rest; set Player/Audio/Token again
        > redo force
        Content/Text/Size = 72      # was 60
          Player/Audio/Token is a secret, and stays as it is
        ok rev 3 redid 1 by …
        > undo farce
        error usage …
        ## set … for and keep refuse invalid requests
        > set Content/Text/Size 72 for
        error usage set PATH VALUE [for DURATION], …
        > set Content/Text/Size 72 until 10m
        error usage quote a value of several words: set Content/Text/Size …
        > set Content/Text/Size 72 "for" 10m
        error usage quote a value of several words: set Content/Text/Size …
        > Content/Text/Size = 72 for 10m
        error usage only set takes a time: set Content/Text/Size 72 for 10m
        > Content/Text/String = wait for 5m
        error usage quote a value of several words: Content/Text/String = "wait for 5m"; for a time: set Content/Text/String VALUE for DURATION
        > Content/Text/String = "two words" for 5m
        error usage only set takes a time: set Content/Text/String "two words" for 5m
        > Content/Text/Size += 2 for 10m
        error usage only set with a value takes a time: set Content/Text/Size VALUE for DURATION
        > Content/Text/Size toggle
        error usage = is missing: Content/Text/Size = VALUE
        > Player/Audio/Token:abc
        error usage = replaces the colon: Player/Audio/Token = VALUE
        > Player/Audio/Token = abc for 10m
        error usage quote a value of several words: Player/Audio/Token = "VALUE"; for a time: set Player/Audio/Token VALUE for DURATION
        > set Content/Text/Size 720 for 10m
        error out-of-range …
        > set Content/Text/Size 72 for 10
        error bad-value Content/Text/Size: “10” is not a duration; write 90s, 10m or 1h30m
        > set Content/Text/Size 72 for -1s
        error out-of-range …
        > set Content/Text/Size 72 for 8761h
        error out-of-range …
        > set Content/Text/Size 72 for 99999999999h
        error bad-value …
        > set Player/Status/Frames 1 for 10m
        error read-only …
        > set Player/Audio/Mute 1 for 10m
        error bad-value …
        > keep Content/Text/Nothing
        error unknown-tweak …
        > keep
        error usage keep PATTERN…, …
        > keep Content/Text/*
        error conflict none of these 6 tweaks has a temporary override to keep
        ## temporary overrides can be set in a batch, and kept
        > begin
        ok rev 0
        > set Content/Text/Size 72 for 10m
        ok queued
        > set Content/Text/Alignment right for 1h30m
        ok queued
        > commit
        Content/Text/Size = 72         # was 60, for 10m
        Content/Text/Alignment = right # was left, for 1h30m
        ok rev 1
        > keep *
        Content/Text/Size = 72         # was 72
        Content/Text/Alignment = right # was right
        ok rev 2
        ## a temporary override of a secret is not shown
        > set Player/Audio/Token s3cret for 10m
        Player/Audio/Token = (set)  # was (unset), for 10m
        ok rev 1
        > explain Player/Audio/Token
            default            (unset)  by code at …
          → temporary override (set)  by … at …, … left
        ok
        > reset Player/Audio/Token
        Player/Audio/Token = (unset) # was (set)
        ok rev 2
        """)

    @Test(arguments: conversations) func valuesAreShownAndChanged(_ conversation: Conversation) throws {
        try conversation.replay()
    }
}
