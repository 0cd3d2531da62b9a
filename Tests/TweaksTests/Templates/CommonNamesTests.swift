// Compiles with another module's RetryPolicy, Spring and the like: none of these names is one of Tweaks.

import Testing
import Tweaks
import TweaksTestSupport

@Test("common names stay the other module's") func commonNames() {
    #expect(type(of: RetryPolicy()) == TweaksTestSupport.RetryPolicy.self)
    #expect(Spring() == Spring() && Timeouts() == Timeouts() && RateLimit() == RateLimit())
    #expect(Shadow() == Shadow() && Ease() == Ease())
}
