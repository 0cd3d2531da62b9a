// Prints a greeting repeatedly; the smallest program with tweaks.

import TweaksDaemon

enum Greeting {
    static let text = Tweak("Greeting", "Text", "Words", "Hello, world", help: "The text to print")
    static let count = Tweak("Greeting", "Text", "Repeat", 1, in: 1...5, help: "How many times")
    static let pause = Tweak("Greeting", "Timing", "Pause", .seconds(1), in: .milliseconds(100) ... .seconds(10))
}

try TweakDaemon.start("hello", tweaks: Greeting.text, Greeting.count, Greeting.pause)

while true {
    for _ in 0..<Greeting.count.value { print(Greeting.text.value) }
    try await Task.sleep(for: Greeting.pause.value)
}
