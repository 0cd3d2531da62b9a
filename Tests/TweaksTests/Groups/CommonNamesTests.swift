// Tests that Tweaks exports none of the common names RetryPolicy, Spring and so on: those of another module are found.

import Testing
import Tweaks
import TweaksTestSupport

@Test func commonNamesAreThoseOfTheOtherModule() {
    #expect(type(of: RetryPolicy()) == TweaksTestSupport.RetryPolicy.self)
    #expect(Spring() == Spring() && Timeouts() == Timeouts() && RateLimit() == RateLimit())
    #expect(Shadow() == Shadow() && Ease() == Ease())
}
