// Tests that no reply of a rogue server ends tweakctl: the grammar of the fuzzers builds replies for every reader.

import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport
import tweaks_fuzz

@testable import tweakctl

struct RogueReplyTests {
    private static func choices(_ random: inout SeededGenerator) -> Choices {
        let count = Int.random(in: 20..<800, using: &random)
        return Choices((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    /// In terminals of any size.
    @Test(.tags(.quantity), arguments: 0..<4) func theEditorGoesOn(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<quantity(60, few: 20) {
            var choices = Self.choices(&random)
            let (columns, rows) = (1 + choices.below(160), 1 + choices.below(50))
            var editor = EditorHarness(columns, rows, tweaks: choices.tweaks())
            repeat {
                switch choices.below(6) {
                case 0: editor.event(choices.event())
                case 1: editor.advance(by: .seconds(choices.below(256)))
                case 2: editor.model.size = ScreenSize(columns: 1 + choices.below(160), rows: 1 + choices.below(50))
                case 3:
                    guard let line = editor.lines.first else { break }
                    editor.answer(
                        line, (0..<choices.below(4)).map { _ in choices.replyLine() }, status: choices.status())
                default: editor.type(choices.keys())
                }
                let lines = editor.frame().lines
                #expect(lines.allSatisfy { !$0.text.unicodeScalars.contains(where: Quoting.isUnsafe) })
            } while !choices.isAtEnd
        }
    }

    @Test(.tags(.quantity), arguments: 0..<4) func rowsAndFiguresAreFormatted(_ seed: UInt64) {
        var random = SeededGenerator(seed: 100 + seed)
        for _ in 0..<quantity(60, few: 20) {
            var choices = Self.choices(&random)
            repeat {
                let body = (0..<(1 + choices.below(4))).map { _ in choices.replyLine() }
                for style in [Style.full, .plain] {
                    let formatter = ReplyFormatter(style: style)
                    let answer = Answer(body: body, status: choices.status(), isRefusal: false).withFields
                    _ = formatter.lines(answer)
                    _ = (answer.remark, answer.complaint, answer.resultText)
                    _ = formatter.event(choices.event())
                }
                for field in body.compactMap({ $0.split(separator: ": ").last.flatMap { Int($0) } }) {
                    _ = Listing.duration(field)
                }
                _ = Age.inWords(body[0], now: 1_795_300_000_000)
            } while !choices.isAtEnd
        }
    }
}
