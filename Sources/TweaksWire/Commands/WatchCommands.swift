// Commands about watching: values now, and each change.

import Tweaks

extension Command.Group {
    static let watching = Command.Group(
        title: "Watching", commands: [.watch, .unwatch])
}

extension Command {
    package static let watch = Command(
        "watch", .several(.pattern(.all), or: .modified), .marked("since", .revision), permission: .sight,
        help: "values now, then an event for each change; watch modified", example: "watch Content")
    package static let unwatch = Command(
        "unwatch", .optional(.pattern(.all), or: .modified), permission: .session,
        help: "stop watching, all or one pattern", example: "unwatch Content")
}
