// Defines a frame: the content of the terminal at one moment.

/// A picture with a status line below it.
struct Frame: Equatable {
    /// The pixels; a character cell holds two, one above the other, so a row of text is two rows of pixels.
    var canvas: Canvas
    /// The last row; nil where the picture fills it, too.
    var status: Status?

    /// A line of text.
    struct Status: Equatable {
        var text: String
        var color = Pixel.white
        var background = Pixel.black
    }
}
