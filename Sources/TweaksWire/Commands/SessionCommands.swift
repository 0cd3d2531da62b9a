// Commands about the session: how it is spoken to, and its end.

import Tweaks

extension Command.Group {
    static let session = Command.Group(
        title: "Session", commands: [.complete, .json, .prompt, .ping, .quit])
}

extension Command {
    package static let complete = Command(
        "complete", .one(.line), permission: .sight,
        help: "how a line could go on", example: "complete \"set Cont\"")
    package static let json = Command(
        "json", .option(.on, .off), permission: .nothing,
        help: "one JSON object a line", example: "json on")
    package static let prompt = Command(
        "prompt", .option(.on, .off), permission: .nothing,
        help: "banner and prompt for people", example: "prompt off")
    package static let ping = Command(
        "ping", permission: .nothing,
        help: "answers ok", example: "ping")
    package static let quit = Command(
        "quit", permission: .nothing,
        help: "close the connection", example: "quit")
}
