// Commands about access control: who a session is, and what it may do.

import Tweaks

extension Command {
    static let accessGroup = Group(
        "Access control",
        [
            Entry(
                .auth, "auth", .option(.scram, isShown: false), .one(.token), permission: .nothing,
                help: "show who you are; programs: auth \(Scram.mechanism) MESSAGE (RFC 7677) does not show the token",
                example: "auth twk_…"),
            Entry(
                .as, "as", .optional(.person), permission: .session,
                help: "your name, shown behind your identity and never trusted; alone: none", example: "as Ada"),
            Entry(.whoami, "whoami", permission: .nothing, help: "what this session is and may do", example: "whoami"),
            Entry(
                .drop, "drop", .several(.scope), permission: .nothing, help: "give up rights of this session",
                example: "drop write:Label"),
            Entry(
                .request, "request", .several(.scope), permission: .session, help: "ask for more rights",
                example: "request write:Label"),
            Entry(.sessions, "sessions", permission: .whole(.admin), help: "who is connected", example: "sessions"),
            Entry(
                .panel, "panel", .option(.rotate, isOffered: false), permission: .whole(.admin),
                help: "the address of the web page, token and all; rotate makes another token", example: "panel"),
            Entry(.kick, "kick", .one(.session), permission: .whole(.admin), help: "end a session", example: "kick 7"),
        ])
}
