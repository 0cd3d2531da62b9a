// Prints a greeting repeatedly; the smallest program with tweaks, which the README shows.

import TweaksDaemon

enum Greeting {
    static let words = Tweak("Greeting", "Text", "Words", "Hello, world", help: "What is printed")
    static let count = Tweak("Greeting", "Text", "Repeat", 1, in: 1...5, help: "How many times")
}

await TweakDaemon.main("hello", tcp: .open(port: 7777), tweaks: Greeting.words, Greeting.count) {
    while true {
        for _ in 0..<Greeting.count.value { print(Greeting.words.value) }
        try await Task.sleep(for: .seconds(1))
    }
}
