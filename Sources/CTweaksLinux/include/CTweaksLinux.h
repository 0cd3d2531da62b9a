// Declares the Linux kernel and linker interfaces that Swift does not import itself. Header only; empty on other
// systems.
#ifndef C_TWEAKS_LINUX_H
#define C_TWEAKS_LINUX_H

#ifdef __linux__
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

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

// dup3(2), declared here for the same reason. Close-on-exec.
extern int tweaks_dup3(int, int, int) __asm__("dup3");
static inline int tweaks_duplicate(int descriptor, int number) { return tweaks_dup3(descriptor, number, O_CLOEXEC); }

// The credentials of a Unix socket's peer when it connected (unix(7), SO_PEERCRED).
static inline int tweaks_peer_of(int descriptor, struct tweaks_peer *peer) {
    socklen_t length = sizeof(*peer);
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, peer, &length);
}

// The kernel's structures of inet_diag (sock_diag(7)), whose headers not every C library has.
struct tweaks_diag_id {
    unsigned short source_port, destination_port;
    unsigned int source[4], destination[4], interface, cookie[2];
};
struct tweaks_diag_request {
    unsigned int length;
    unsigned short type, flags;
    unsigned int sequence, port;
    unsigned char family, protocol, extensions, padding;
    unsigned int states;
    struct tweaks_diag_id id;
};
struct tweaks_diag_reply {
    unsigned int length;
    unsigned short type, flags;
    unsigned int sequence, port;
    unsigned char family, state, timer, retransmits;
    struct tweaks_diag_id id;
    unsigned int expires, unread, unsent, user, inode;
};

// A socket for questions about other sockets; negative where the system has none, or allows none.
static inline int tweaks_diag_open(void) { return socket(16, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 4); }

// Copies a numeric address and returns its port; 0 for another family.
static inline unsigned short tweaks_diag_end(const struct sockaddr_storage *end, unsigned int *address) {
    if (end->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)end;
        memcpy(address, &four->sin_addr, 4);
        return four->sin_port;
    }
    if (end->ss_family != AF_INET6) return 0;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)end;
    memcpy(address, &six->sin6_addr, 16);
    return six->sin6_port;
}

// The user who owns one end of a TCP connection of this machine: the peer's, or our own. One exact lookup, without
// waiting. Negative where the kernel does not say it: also for an end that its process has closed, which has no owner.
static inline long long tweaks_diag_user(int diag, int connection, int of_peer) {
    struct sockaddr_storage near, far;
    socklen_t near_length = sizeof(near), far_length = sizeof(far);
    if (getsockname(connection, (struct sockaddr *)&near, &near_length) != 0) return -1;
    if (getpeername(connection, (struct sockaddr *)&far, &far_length) != 0) return -1;
    struct tweaks_diag_request request;
    memset(&request, 0, sizeof(request));
    request.length = sizeof(request);
    request.type = 20;
    request.flags = 1;
    request.family = (unsigned char)near.ss_family;
    request.protocol = IPPROTO_TCP;
    request.states = ~0u;
    request.id.cookie[0] = request.id.cookie[1] = ~0u;
    request.id.source_port = tweaks_diag_end(of_peer ? &far : &near, request.id.source);
    request.id.destination_port = tweaks_diag_end(of_peer ? &near : &far, request.id.destination);
    request.sequence = ((unsigned int)request.id.source_port << 16) | request.id.destination_port;
    if (send(diag, &request, sizeof(request), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return -1;
    // The kernel has answered when send returns. An answer to an earlier question may precede this one.
    for (int attempt = 0; attempt < 4; attempt++) {
        struct tweaks_diag_reply reply;
        memset(&reply, 0, sizeof(reply));
        ssize_t count = recv(diag, &reply, sizeof(reply), MSG_DONTWAIT);
        if (count < 0) return -1;
        if (reply.sequence != request.sequence) continue;
        if (count < (ssize_t)sizeof(reply) || reply.type != 20 || reply.inode == 0) return -1;
        return reply.user;
    }
    return -1;
}

// Whether the kernel names the owner of a TCP connection: tried with one of our own, which no other program can end.
static inline int tweaks_diag_works(int diag) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in end;
    socklen_t length = sizeof(end);
    memset(&end, 0, sizeof(end));
    end.sin_family = AF_INET;
    end.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listens = listener >= 0 && client >= 0 && bind(listener, (struct sockaddr *)&end, sizeof(end)) == 0
        && listen(listener, 16) == 0 && getsockname(listener, (struct sockaddr *)&end, &length) == 0;
    // On loopback it is connected when connect returns, also without waiting.
    if (listens) (void)connect(client, (struct sockaddr *)&end, length);
    int works = listens && tweaks_diag_user(diag, client, 0) >= 0;
    if (listener >= 0) close(listener);
    if (client >= 0) close(client);
    return works;
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
