// Declares the slow paths of Synchronization.Mutex to the thread sanitizer. They are in a library that is not instrumented,
// so the sanitizer would not see contended locks. Preloaded by .ci/run, part of no product.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK_SLOW);

SWIFT void lock_slow(uint32_t thread, SELF) {
    SWIFT void (*real)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK_SLOW);
    real(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) {
    SWIFT void (*real)(SELF) = dlsym(RTLD_NEXT, UNLOCK_SLOW);
    if (__tsan_release) __tsan_release(self);
    real(self);
}
