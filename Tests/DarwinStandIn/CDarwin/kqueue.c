// Maps kqueue to epoll: each filter of a descriptor is a bit of its interest.
//
// An epoll descriptor has one registration for a descriptor, a kqueue one for each filter. What is registered for a
// queue stands in a table by descriptor. Readiness is reported by level. With EV_CLEAR, which only the write filter may
// have here, a state is reported once: that there is room, and that the connection has ended.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "CDarwin.h"

enum { QUEUES = 65536, REGISTERED_READ = 1, REGISTERED_WRITE = 2, ENABLED_READ = 4, ENABLED_WRITE = 8, ONCE = 16, SAID = 32 };

struct table {
    int count;
    uint8_t *filters;
};
static struct table tables[QUEUES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int darwin_kqueue(void) {
    int queue = epoll_create1(EPOLL_CLOEXEC);
    if (queue < 0) return queue;
    if (queue >= QUEUES) {
        close(queue);
        errno = EMFILE;
        return -1;
    }
    pthread_mutex_lock(&lock);
    free(tables[queue].filters);
    tables[queue] = (struct table){0, NULL};
    pthread_mutex_unlock(&lock);
    return queue;
}

static uint8_t *filters(struct table *table, int descriptor) {
    if (descriptor >= table->count) {
        int count = descriptor * 2 + 64;
        table->filters = realloc(table->filters, (size_t)count);
        memset(table->filters + table->count, 0, (size_t)(count - table->count));
        table->count = count;
    }
    return &table->filters[descriptor];
}

static struct epoll_event interest(int descriptor, uint8_t state) {
    struct epoll_event event = {0};
    event.data.fd = descriptor;
    // The end of input is an event of the read filter alone.
    if (state & ENABLED_READ) event.events |= EPOLLIN | EPOLLRDHUP;
    if (state & ENABLED_WRITE && !(state & SAID)) event.events |= EPOLLOUT;
    return event;
}

static int apply(int queue, const struct darwin_kevent *change) {
    int descriptor = (int)change->ident;
    if (descriptor < 0 || (change->filter != EVFILT_READ && change->filter != EVFILT_WRITE)) return EINVAL;
    uint8_t registered = change->filter == EVFILT_READ ? REGISTERED_READ : REGISTERED_WRITE;
    uint8_t enabled = change->filter == EVFILT_READ ? ENABLED_READ : ENABLED_WRITE;
    uint8_t *state = filters(&tables[queue], descriptor), before = *state;
    if (change->flags & EV_DELETE) {
        if (!(before & registered)) return ENOENT;
        *state &= (uint8_t) ~(registered | enabled | (change->filter == EVFILT_WRITE ? ONCE | SAID : 0));
    } else {
        if (!(change->flags & EV_ADD) && !(before & registered)) return ENOENT;
        if (change->flags & EV_CLEAR && change->filter != EVFILT_WRITE) return EINVAL;
        // As there, a filter that exists keeps its kind.
        if (change->flags & EV_CLEAR && !(before & registered)) *state |= ONCE;
        if (change->flags & EV_ADD) *state |= registered | enabled;
        if (change->flags & EV_ENABLE) *state |= enabled;
        if (change->flags & EV_DISABLE) *state &= (uint8_t)~enabled;
    }
    int known = before & (REGISTERED_READ | REGISTERED_WRITE), wanted = *state & (REGISTERED_READ | REGISTERED_WRITE);
    struct epoll_event event = interest(descriptor, *state);
    int operation = !wanted ? EPOLL_CTL_DEL : known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(queue, operation, descriptor, &event) == 0) return 0;
    // A descriptor that was closed has lost its registrations, and may have been opened again for something else.
    if (operation == EPOLL_CTL_MOD && errno == ENOENT) {
        *state = 0;
        return apply(queue, change);
    }
    *state = before;
    return errno;
}

// Where a filter is disabled, epoll still reports EPOLLHUP and EPOLLERR; kqueue reports nothing then.
static int translated(int queue, const struct epoll_event *found, struct darwin_kevent *events, int room) {
    uint8_t *filter = filters(&tables[queue], found->data.fd), state = *filter;
    uint32_t gone = found->events & (EPOLLHUP | EPOLLERR);
    int count = 0;
    if (state & ENABLED_READ && found->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR) && count < room)
        events[count++] = (struct darwin_kevent){
            (uintptr_t)found->data.fd, EVFILT_READ,
            (uint16_t)(found->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR) ? EV_EOF : 0), 0, 0, NULL};
    if (state & ENABLED_WRITE && (found->events & EPOLLOUT || gone) && count < room)
        events[count++] = (struct darwin_kevent){
            (uintptr_t)found->data.fd, EVFILT_WRITE, (uint16_t)(gone ? EV_EOF : 0), 0, 0, NULL};
    if (state & ONCE && gone) *filter &= (uint8_t)~ENABLED_WRITE;
    if (state & ONCE && !gone && found->events & EPOLLOUT) {
        *filter |= SAID;
        struct epoll_event event = interest(found->data.fd, *filter);
        epoll_ctl(queue, EPOLL_CTL_MOD, found->data.fd, &event);
    }
    return count;
}

int darwin_kevent_(
    int queue, const struct darwin_kevent *changes, int changeCount, struct darwin_kevent *events, int eventCount,
    const struct darwin_timespec *timeout) {
    pthread_mutex_lock(&lock);
    for (int number = 0; number < changeCount; number++) {
        int code = apply(queue, &changes[number]);
        if (code == 0) continue;
        pthread_mutex_unlock(&lock);
        errno = code;
        return -1;
    }
    pthread_mutex_unlock(&lock);
    if (eventCount <= 0) return 0;
    // Each may be two events.
    struct epoll_event found[128];
    int most = eventCount / 2 < 1 ? 1 : eventCount / 2 > 128 ? 128 : eventCount / 2;
    int milliseconds = timeout ? (int)(timeout->tv_sec * 1000 + (timeout->tv_nsec + 999999) / 1000000) : -1;
    int ready = epoll_wait(queue, found, most, milliseconds);
    if (ready < 0) return -1;
    pthread_mutex_lock(&lock);
    int count = 0;
    for (int number = 0; number < ready; number++)
        count += translated(queue, &found[number], events + count, eventCount - count);
    pthread_mutex_unlock(&lock);
    return count;
}
