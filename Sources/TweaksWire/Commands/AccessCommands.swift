// Commands about access control: who a session is, and what it may do.

import Tweaks

extension Command {
    static let accessGroup = Group(
        title: "Access control", commands: [.auth, .as, .whoami, .drop, .request, .sessions, .panel, .kick])

    package static let auth = Command(
        "auth", .option(.scram, isShown: false), .one(.token), permission: .nothing,
        help: "show who you are; programs: auth \(Scram.mechanism) MESSAGE (RFC 7677) does not show the token",
        example: "auth twk_…")
    package static let `as` = Command(
        "as", .optional(.person), permission: .session,
        help: "your name, shown behind your identity and never trusted; alone: none", example: "as Ada")
    package static let whoami = Command(
        "whoami", permission: .nothing, help: "what this session is and may do", example: "whoami")
    package static let drop = Command(
        "drop", .several(.scope), permission: .nothing, help: "give up rights of this session",
        example: "drop write:Label")
    package static let request = Command(
        "request", .several(.scope), permission: .session, help: "ask for more rights", example: "request write:Label")
    package static let sessions = Command(
        "sessions", permission: .whole(.admin), help: "who is connected", example: "sessions")
    package static let panel = Command(
        "panel", .option(.rotate, isOffered: false), permission: .whole(.admin),
        help: "the address of the web page, token and all; rotate makes another token", example: "panel")
    package static let kick = Command(
        "kick", .one(.session), permission: .whole(.admin), help: "end a session", example: "kick 7")
}
