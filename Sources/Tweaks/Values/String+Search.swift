// Finds texts within texts. The standard library's own search comes with its regular expressions, which would add a
// megabyte to every statically linked program.

extension String {
    /// Where a text is found, from the start on; the places do not overlap. An empty text is found nowhere.
    package func places(of text: String) -> [Range<Index>] {
        if text.isEmpty { return [] }
        var (places, place): ([Range<Index>], Index) = ([], startIndex)
        while place < endIndex {
            if self[place...].starts(with: text), let end = index(place, offsetBy: text.count, limitedBy: endIndex) {
                places.append(place..<end)
                place = end
            } else {
                place = index(after: place)
            }
        }
        return places
    }

    /// The same with another text in each place of one.
    package func substituting(_ new: String, for old: String) -> String {
        var (result, done) = ("", startIndex)
        for place in places(of: old) {
            result += self[done..<place.lowerBound] + new
            done = place.upperBound
        }
        return result + self[done...]
    }
}
