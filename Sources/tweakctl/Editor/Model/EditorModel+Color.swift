// Adjusts a color by its channels.

import Tweaks

extension EditorModel {
    /// Starts adjusting the selected color.
    mutating func beginColor() {
        guard let tweak = selectedTweak, !tweak.isReadOnly else { return }
        if tweak.color == nil { return showNotice("\(tweak.parts[2]) is not a color") }
        mode = .coloring(tweak.path, channel: 0)
    }

    /// Handles a command while a color is adjusted.
    mutating func color(_ path: String, _ channel: Int, _ command: EditorCommand?) {
        guard let position = positions[path], let color = tweaks[position].color else {
            mode = .browsing
            return
        }
        let value = color.channels[channel]
        var wanted = value
        switch command {
        case .up?: mode = .coloring(path, channel: (channel + 3) % 4)
        case .down?: mode = .coloring(path, channel: (channel + 1) % 4)
        case .move(let direction, let stepSize)?: wanted += direction * (stepSize == .coarse ? 16 : 1)
        case .first?: wanted = 0
        case .last?: wanted = 255
        case .undo?: send("undo", .command("undo", forced: "undo force"))
        case .back?: mode = .browsing
        default: break
        }
        wanted = min(max(wanted, 0), 255)
        if wanted != value { ask(for: .color(color.with(channel, wanted)), of: position) }
    }
}

extension TweakColor {
    /// Red, green, blue, alpha.
    var channels: [Int] { [red8, green8, blue8, alpha8].map { Int($0) } }

    /// The color with another value of one channel.
    func with(_ channel: Int, _ value: Int) -> TweakColor {
        var all = channels.map { UInt8(clamping: $0) }
        all[channel] = UInt8(clamping: value)
        return TweakColor(red8: all[0], green8: all[1], blue8: all[2], alpha8: all[3])
    }
}
