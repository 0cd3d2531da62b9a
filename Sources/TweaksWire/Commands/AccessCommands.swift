// Declares the commands for access control.

import Tweaks

extension Command {
    static let accessGroup = Group(
        "Access control",
        [
            Entry(
                .auth, "auth", .option(.scram, isShown: false), .one(.token), permission: .nothing,
                help: "sign in with a token; programs: auth \(Scram.mechanism) MESSAGE (RFC 7677) does not send it",
                example: "auth twk_…"),
            Entry(
                .as, "as", .optional(.displayName), permission: .session,
                help: "set your name, shown after your identity, not verified; alone: clear it", example: "as Ada"),
            Entry(
                .whoami, "whoami", permission: .nothing, help: "show the identity and rights of this session",
                example: "whoami"),
            Entry(
                .drop, "drop", .several(.scope), permission: .nothing, help: "give up rights of this session",
                example: "drop write:Label"),
            Entry(
                .request, "request", .several(.scope), permission: .session, help: "ask for more rights",
                example: "request write:Label"),
            Entry(
                .sessions, "sessions", permission: .whole(.admin), help: "list the connected sessions",
                example: "sessions"),
            Entry(
                .panel, "panel", .option(.rotate, .token, isOffered: false), permission: .whole(.admin),
                help: "the address of the web page, for one sign-in; token: its token, for programs; rotate: new ones",
                example: "panel"),
            Entry(.kick, "kick", .one(.session), permission: .whole(.admin), help: "end a session", example: "kick 7"),
        ])
}
