// Kernel interfaces of Linux that Swift does not import by itself. Header only; empty elsewhere.
#ifndef C_TWEAKS_LINUX_H
#define C_TWEAKS_LINUX_H

#ifdef __linux__
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // struct ucred, accept4
#endif
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// What the peer of a Unix socket was when it connected (SO_PEERCRED).
struct tweaks_peer {
    unsigned int uid;
    unsigned int gid;
    int pid;
};

static inline int tweaks_peer_of(int descriptor, struct tweaks_peer *peer) {
    struct ucred credentials;
    socklen_t length = sizeof(credentials);
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    peer->uid = credentials.uid;
    peer->gid = credentials.gid;
    peer->pid = credentials.pid;
    return 0;
}
#endif

#endif
