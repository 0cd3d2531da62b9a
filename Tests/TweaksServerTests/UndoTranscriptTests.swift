// Conversations about going back: what is refused, and what force does then.

import Testing
import TweaksTestSupport

@Suite(.blocking) struct UndoTranscriptTests {
    @Test func force() throws {
        try replay(
            """
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
            error conflict Player/Audio/Token is a secret, whose earlier value is not remembered; set it
            > undo force
            Content/Text/Size = 60      # was 72
            ok rev 2 undid 1 by …
            > get Player/Audio/Token
            Player/Audio/Token = (set)  # string, secret
            ok
            > redo
            error conflict Player/Audio/Token is a secret, whose earlier value is not remembered; set it
            > redo force
            Content/Text/Size = 72      # was 60
            ok rev 3 redid 1 by …
            > undo farce
            error usage …
            """)
    }
}
