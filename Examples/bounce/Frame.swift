// What a terminal shows at one moment.

/// A picture, and a line of text below it.
struct Frame: Equatable {
    /// Twice as high as the rows that it fills: each character cell holds two pixels, one above the other.
    var canvas: Canvas
    /// The lowest row; nil where the picture fills that too.
    var status: Status?

    /// A line of text.
    struct Status: Equatable {
        var text: String
        var color = Pixel.white
        var background = Pixel.black
    }
}
