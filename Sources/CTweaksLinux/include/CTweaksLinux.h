// Declares the Linux kernel and linker interfaces that Swift does not import itself. Header only; empty on other
// systems.
#ifndef C_TWEAKS_LINUX_H
#define C_TWEAKS_LINUX_H

#ifdef __linux__
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// The kernel's struct ucred. The C library declares it only with _GNU_SOURCE, which would clash with Swift's own
// import.
struct tweaks_peer {
    int pid;
    unsigned int uid;
    unsigned int gid;
};

// accept4(2), which the C library also declares only with _GNU_SOURCE. Accepts close-on-exec and nonblocking.
extern int tweaks_accept4(int, void *, void *, int) __asm__("accept4");
static inline int tweaks_accept(int descriptor) {
    return tweaks_accept4(descriptor, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

// The credentials of a Unix socket's peer when it connected (unix(7), SO_PEERCRED).
static inline int tweaks_peer_of(int descriptor, struct tweaks_peer *peer) {
    socklen_t length = sizeof(*peer);
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, peer, &length);
}

// The section "tweaks", which the linker merges from all modules of a binary. The linker defines both symbols where the
// section exists; each binary has its own.
extern const char __start_tweaks[] __attribute__((weak, visibility("hidden")));
extern const char __stop_tweaks[] __attribute__((weak, visibility("hidden")));
static inline const void *tweaks_lists_start(void) { return __start_tweaks; }
static inline const void *tweaks_lists_end(void) { return __stop_tweaks; }

// Linux 4.13; older headers lack it. The number differs only on PA-RISC and SPARC, which Swift does not support.
#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

// The peer's supplementary groups when it connected. If the buffer is too short, `length` returns the required size in
// bytes.
static inline int tweaks_peer_groups_of(int descriptor, unsigned int *groups, unsigned int *length) {
    socklen_t size = *length;
    int result = getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &size);
    *length = size;
    return result;
}

// pthread_setname_np(3), declared here for the same reason as accept4.
extern int tweaks_name_thread(pthread_t, const char *) __asm__("pthread_setname_np");

// sync_file_range(2) with SYNC_FILE_RANGE_WRITE, declared here for the same reason.
extern int tweaks_sync_file_range(int, long long, long long, unsigned int) __asm__("sync_file_range");
static inline void tweaks_begin_sync(int descriptor) { tweaks_sync_file_range(descriptor, 0, 0, 2); }

// The environment variables, which are a global of the C library.
extern char **environ;
static inline char **tweaks_environment(void) { return environ; }
#endif

#endif
