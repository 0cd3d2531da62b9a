// Makes the calls of Apple's C library with those of Linux: translates structures, flags and options.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "CDarwin.h"

#define VALUE(name) const int darwin_##name = name;
CONSTANTS(VALUE)

// Options that Linux has not; the numbers are free there.
enum { NO_SIGPIPE = 0x1022, LOCAL = 0x1000, PEER_CREDENTIALS = 1, PEER_PROCESS = 2, FULL_SYNC = 0x1033 };
const int standin_SO_NOSIGPIPE = NO_SIGPIPE, standin_SOL_LOCAL = LOCAL, standin_LOCAL_PEERCRED = PEER_CREDENTIALS,
          standin_LOCAL_PEERPID = PEER_PROCESS, standin_F_FULLFSYNC = FULL_SYNC;

// MARK: Addresses: Apple's have a byte for their length, which Linux's family has in the same place.

static socklen_t to_linux(const struct darwin_sockaddr *from, socklen_t length, struct sockaddr_storage *to) {
    memset(to, 0, sizeof *to);
    size_t count = length < sizeof *to ? length : sizeof *to;
    memcpy(to, from, count);
    to->ss_family = from->sa_family;
    return (socklen_t)count;
}
static void to_darwin(
    const struct sockaddr_storage *from, socklen_t count, struct darwin_sockaddr *to, darwin_socklen_t *length) {
    if (!to || !length) return;
    struct sockaddr_storage copy = *from;
    uint8_t head[2] = {(uint8_t)count, (uint8_t)from->ss_family};
    memcpy(&copy, head, sizeof head);
    memcpy(to, &copy, count < *length ? count : *length);
    *length = count;
}

int darwin_socket(int family, int kind, int protocol) { return socket(family, kind, protocol); }
int darwin_socketpair(int family, int kind, int protocol, int *ends) {
    return socketpair(family, kind, protocol, ends);
}
int darwin_bind(int number, const struct darwin_sockaddr *address, darwin_socklen_t length) {
    struct sockaddr_storage storage;
    socklen_t count = to_linux(address, length, &storage);
    return bind(number, (struct sockaddr *)&storage, count);
}
int darwin_listen(int number, int backlog) { return listen(number, backlog); }
int darwin_connect(int number, const struct darwin_sockaddr *address, darwin_socklen_t length) {
    struct sockaddr_storage storage;
    socklen_t count = to_linux(address, length, &storage);
    return connect(number, (struct sockaddr *)&storage, count);
}
int darwin_accept(int number, struct darwin_sockaddr *address, darwin_socklen_t *length) {
    struct sockaddr_storage storage;
    socklen_t count = sizeof storage;
    int accepted = accept(number, (struct sockaddr *)&storage, &count);
    if (accepted >= 0) to_darwin(&storage, count, address, length);
    return accepted;
}
int darwin_getsockname(int number, struct darwin_sockaddr *address, darwin_socklen_t *length) {
    struct sockaddr_storage storage;
    socklen_t count = sizeof storage;
    int result = getsockname(number, (struct sockaddr *)&storage, &count);
    if (result == 0) to_darwin(&storage, count, address, length);
    return result;
}
int darwin_getpeername(int number, struct darwin_sockaddr *address, darwin_socklen_t *length) {
    struct sockaddr_storage storage;
    socklen_t count = sizeof storage;
    int result = getpeername(number, (struct sockaddr *)&storage, &count);
    if (result == 0) to_darwin(&storage, count, address, length);
    return result;
}
// On Apple's systems an option of the socket prevents SIGPIPE, here a flag of each call.
darwin_ssize_t darwin_send(int number, const void *bytes, size_t count, int flags) {
    return send(number, bytes, count, flags | MSG_NOSIGNAL);
}
darwin_ssize_t darwin_recv(int number, void *bytes, size_t count, int flags) {
    return recv(number, bytes, count, flags);
}
darwin_ssize_t darwin_sendto(
    int number, const void *bytes, size_t count, int flags, const struct darwin_sockaddr *address,
    darwin_socklen_t length) {
    struct sockaddr_storage storage;
    socklen_t used = to_linux(address, length, &storage);
    return sendto(number, bytes, count, flags | MSG_NOSIGNAL, (struct sockaddr *)&storage, used);
}
int darwin_setsockopt(int number, int level, int name, const void *value, darwin_socklen_t length) {
    if (level == SOL_SOCKET && name == NO_SIGPIPE) return 0;
    if (level == SOL_SOCKET && (name == SO_SNDTIMEO || name == SO_RCVTIMEO)) {
        const struct darwin_timeval *time = value;
        struct timeval copy = {time->tv_sec, time->tv_usec};
        return setsockopt(number, level, name, &copy, sizeof copy);
    }
    return setsockopt(number, level, name, value, length);
}
int darwin_getsockopt(int number, int level, int name, void *value, darwin_socklen_t *length) {
    if (level != LOCAL) return getsockopt(number, level, name, value, length);
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
    if (name == PEER_PROCESS) {
        *(darwin_pid_t *)value = peer.pid;
        return 0;
    }
    struct darwin_xucred credentials = {0, peer.uid, 0, {0}};
    gid_t groups[16];
    socklen_t bytes = sizeof groups;
    if (getsockopt(number, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) == 0) {
        credentials.cr_ngroups = (short)(bytes / sizeof *groups);
        memcpy(credentials.cr_groups, groups, bytes);
    }
    *(struct darwin_xucred *)value = credentials;
    return 0;
}
int darwin_getpeereid(int number, darwin_uid_t *user, darwin_gid_t *group) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
    *user = peer.uid;
    *group = peer.gid;
    return 0;
}
int darwin_shutdown(int number, int how) { return shutdown(number, how); }

// Each result is one block: the structure, its address behind it.
int darwin_getaddrinfo(
    const char *host, const char *port, const struct darwin_addrinfo *hints, struct darwin_addrinfo **list) {
    struct addrinfo wanted = {0}, *found;
    if (hints) {
        wanted.ai_flags = hints->ai_flags;
        wanted.ai_family = hints->ai_family;
        wanted.ai_socktype = hints->ai_socktype;
        wanted.ai_protocol = hints->ai_protocol;
    }
    int result = getaddrinfo(host, port, &wanted, &found);
    if (result != 0) return result;
    struct darwin_addrinfo **end = list;
    for (struct addrinfo *next = found; next; next = next->ai_next) {
        struct darwin_addrinfo *entry = calloc(1, sizeof *entry + sizeof(struct sockaddr_storage));
        struct sockaddr_storage storage = {0};
        memcpy(&storage, next->ai_addr, next->ai_addrlen);
        entry->ai_family = next->ai_family;
        entry->ai_socktype = next->ai_socktype;
        entry->ai_protocol = next->ai_protocol;
        entry->ai_addrlen = sizeof storage;
        entry->ai_addr = (struct darwin_sockaddr *)(entry + 1);
        to_darwin(&storage, next->ai_addrlen, entry->ai_addr, &entry->ai_addrlen);
        *end = entry;
        end = &entry->ai_next;
    }
    freeaddrinfo(found);
    return 0;
}
void darwin_freeaddrinfo(struct darwin_addrinfo *list) {
    while (list) {
        struct darwin_addrinfo *next = list->ai_next;
        free(list);
        list = next;
    }
}
const char *darwin_gai_strerror(int code) { return gai_strerror(code); }
int darwin_getnameinfo(
    const struct darwin_sockaddr *address, darwin_socklen_t length, char *host, darwin_socklen_t hostLength,
    char *port, darwin_socklen_t portLength, int flags) {
    struct sockaddr_storage storage;
    socklen_t count = to_linux(address, length, &storage);
    return getnameinfo((struct sockaddr *)&storage, count, host, hostLength, port, portLength, flags);
}
const struct darwin_in6_addr darwin_in6addr_loopback = {{[15] = 1}};
uint32_t darwin_inet_addr(const char *text) { return inet_addr(text); }
int darwin_inet_pton(int family, const char *text, void *address) { return inet_pton(family, text, address); }
const char *darwin_inet_ntop(int family, const void *address, char *text, darwin_socklen_t length) {
    return inet_ntop(family, address, text, length);
}
int darwin_poll(struct darwin_pollfd *entries, darwin_nfds_t count, int milliseconds) {
    return poll((struct pollfd *)entries, count, milliseconds);
}

// MARK: Files

static int copied(int result, const struct stat *from, struct darwin_stat *to) {
    if (result != 0) return result;
    memset(to, 0, sizeof *to);
    to->st_dev = (darwin_dev_t)from->st_dev;
    to->st_mode = (darwin_mode_t)from->st_mode;
    to->st_nlink = (darwin_nlink_t)from->st_nlink;
    to->st_ino = from->st_ino;
    to->st_uid = from->st_uid;
    to->st_gid = from->st_gid;
    to->st_size = from->st_size;
    to->st_blocks = from->st_blocks;
    to->st_mtimespec = (struct darwin_timespec){from->st_mtim.tv_sec, from->st_mtim.tv_nsec};
    to->st_ctimespec = (struct darwin_timespec){from->st_ctim.tv_sec, from->st_ctim.tv_nsec};
    return 0;
}
int darwin_stat_(const char *path, struct darwin_stat *info) {
    struct stat found;
    return copied(stat(path, &found), &found, info);
}
int darwin_lstat(const char *path, struct darwin_stat *info) {
    struct stat found;
    return copied(lstat(path, &found), &found, info);
}
int darwin_fstat(int descriptor, struct darwin_stat *info) {
    struct stat found;
    return copied(fstat(descriptor, &found), &found, info);
}
int darwin_fstatat(int folder, const char *path, struct darwin_stat *info, int flags) {
    struct stat found;
    return copied(fstatat(folder, path, &found, flags), &found, info);
}
int darwin_statvfs_(const char *path, struct darwin_statvfs *info) {
    struct statvfs found;
    int result = statvfs(path, &found);
    if (result != 0) return result;
    memset(info, 0, sizeof *info);
    info->f_flag = found.f_flag;
    info->f_bsize = found.f_bsize;
    return 0;
}
int darwin_chmod(const char *path, darwin_mode_t mode) { return chmod(path, mode); }
int darwin_fchmod(int descriptor, darwin_mode_t mode) { return fchmod(descriptor, mode); }
int darwin_mkdir(const char *path, darwin_mode_t mode) { return mkdir(path, mode); }
int darwin_mkdirat(int folder, const char *path, darwin_mode_t mode) { return mkdirat(folder, path, mode); }
int darwin_mkfifo(const char *path, darwin_mode_t mode) { return mkfifo(path, mode); }
darwin_mode_t darwin_umask(darwin_mode_t mode) { return (darwin_mode_t)umask(mode); }
int standin_open(const char *path, int flags, darwin_mode_t mode) { return open(path, flags, mode); }
int standin_openat(int folder, const char *path, int flags, darwin_mode_t mode) {
    return openat(folder, path, flags, mode);
}
int standin_fcntl(int descriptor, int command, long argument) {
    return command == FULL_SYNC ? fsync(descriptor) : fcntl(descriptor, command, argument);
}
int standin_ioctl(int descriptor, unsigned long request, void *argument) {
    return ioctl(descriptor, request, argument);
}
int *standin_errno(void) { return &errno; }
int darwin_access(const char *path, int mode) { return access(path, mode); }
int darwin_chown(const char *path, darwin_uid_t user, darwin_gid_t group) { return chown(path, user, group); }
int darwin_close(int descriptor) { return close(descriptor); }
int darwin_dup(int descriptor) { return dup(descriptor); }
int darwin_dup2(int from, int to) { return dup2(from, to); }
int darwin_fchown(int descriptor, darwin_uid_t user, darwin_gid_t group) { return fchown(descriptor, user, group); }
int darwin_fsync(int descriptor) { return fsync(descriptor); }
int darwin_ftruncate(int descriptor, darwin_off_t size) { return ftruncate(descriptor, size); }
char *darwin_getcwd(char *path, size_t size) { return getcwd(path, size); }
int darwin_lchown(const char *path, darwin_uid_t user, darwin_gid_t group) { return lchown(path, user, group); }
int darwin_link(const char *from, const char *to) { return link(from, to); }
int darwin_linkat(int fromFolder, const char *from, int toFolder, const char *to, int flags) {
    return linkat(fromFolder, from, toFolder, to, flags);
}
darwin_off_t darwin_lseek(int descriptor, darwin_off_t offset, int from) { return lseek(descriptor, offset, from); }
int darwin_pipe(int *ends) { return pipe(ends); }
darwin_ssize_t darwin_pread(int descriptor, void *bytes, size_t count, darwin_off_t offset) {
    return pread(descriptor, bytes, count, offset);
}
darwin_ssize_t darwin_read(int descriptor, void *bytes, size_t count) { return read(descriptor, bytes, count); }
darwin_ssize_t darwin_write(int descriptor, const void *bytes, size_t count) {
    return write(descriptor, bytes, count);
}
darwin_ssize_t darwin_readlink(const char *path, char *target, size_t size) { return readlink(path, target, size); }
int darwin_rename(const char *from, const char *to) { return rename(from, to); }
int darwin_renameat(int fromFolder, const char *from, int toFolder, const char *to) {
    return renameat(fromFolder, from, toFolder, to);
}
int darwin_rmdir(const char *path) { return rmdir(path); }
uint32_t darwin_sleep(uint32_t seconds) { return sleep(seconds); }
int darwin_symlink(const char *target, const char *path) { return symlink(target, path); }
int darwin_unlink(const char *path) { return unlink(path); }
int darwin_unlinkat(int folder, const char *path, int flags) { return unlinkat(folder, path, flags); }
int darwin_flock(int descriptor, int operation) { return flock(descriptor, operation); }
char *darwin_mkdtemp(char *pattern) { return mkdtemp(pattern); }
char *darwin_realpath(const char *path, char *result) { return realpath(path, result); }

static darwin_DIR *directory(DIR *stream) {
    if (!stream) return NULL;
    darwin_DIR *result = calloc(1, sizeof *result);
    result->stream = stream;
    return result;
}
darwin_DIR *darwin_opendir(const char *path) { return directory(opendir(path)); }
darwin_DIR *darwin_fdopendir(int descriptor) { return directory(fdopendir(descriptor)); }
struct darwin_dirent *darwin_readdir(darwin_DIR *folder) {
    struct dirent *next = readdir(folder->stream);
    if (!next) return NULL;
    folder->entry.d_ino = next->d_ino;
    folder->entry.d_type = next->d_type;
    folder->entry.d_namlen = (uint16_t)strlen(next->d_name);
    strcpy(folder->entry.d_name, next->d_name);
    return &folder->entry;
}
int darwin_closedir(darwin_DIR *folder) {
    int result = closedir(folder->stream);
    free(folder);
    return result;
}

// MARK: Processes, users, time, texts

void darwin_exit(int status) { exit(status); }
void darwin_exit_now(int status) { _exit(status); }
void darwin_abort(void) { abort(); }
int darwin_execv(const char *path, char *const *arguments) { return execv(path, arguments); }
darwin_pid_t darwin_getpid(void) { return getpid(); }
darwin_pid_t darwin_waitpid(darwin_pid_t process, int *status, int options) {
    return waitpid(process, status, options);
}
darwin_uid_t darwin_getuid(void) { return getuid(); }
darwin_uid_t darwin_geteuid(void) { return geteuid(); }
darwin_gid_t darwin_getgid(void) { return getgid(); }
darwin_gid_t darwin_getegid(void) { return getegid(); }
int darwin_gethostname(char *name, size_t size) { return gethostname(name, size); }
static struct darwin_passwd *user(const struct passwd *from) {
    static _Thread_local struct darwin_passwd result;
    if (!from) return NULL;
    result = (struct darwin_passwd){
        .pw_name = from->pw_name, .pw_passwd = from->pw_passwd, .pw_uid = from->pw_uid, .pw_gid = from->pw_gid,
        .pw_gecos = from->pw_gecos, .pw_dir = from->pw_dir, .pw_shell = from->pw_shell};
    return &result;
}
struct darwin_passwd *darwin_getpwuid(darwin_uid_t number) { return user(getpwuid(number)); }
struct darwin_passwd *darwin_getpwnam(const char *name) { return user(getpwnam(name)); }
int darwin_atexit(void (*call)(void)) { return atexit(call); }
int darwin_posix_openpt(int flags) { return posix_openpt(flags); }
int darwin_grantpt(int descriptor) { return grantpt(descriptor); }
int darwin_unlockpt(int descriptor) { return unlockpt(descriptor); }
char *darwin_ptsname(int descriptor) { return ptsname(descriptor); }
int darwin_getdtablesize(void) { return getdtablesize(); }
void *darwin_memchr(const void *bytes, int byte, size_t count) { return memchr(bytes, byte, count); }
char *darwin_getenv(const char *name) { return getenv(name); }
int darwin_setenv(const char *name, const char *value, int overwrites) { return setenv(name, value, overwrites); }
int darwin_unsetenv(const char *name) { return unsetenv(name); }
char ***darwin_environment(void) { return &environ; }
int darwin_executable_path(char *path, uint32_t *size) {
    ssize_t count = readlink("/proc/self/exe", path, *size - 1);
    if (count < 0) return -1;
    path[count] = 0;
    return 0;
}
int darwin_usleep(uint32_t microseconds) { return usleep(microseconds); }
int darwin_pause(void) { return pause(); }
int darwin_clock_gettime(darwin_clockid_t clock, struct darwin_timespec *time) {
    return clock_gettime(clock == darwin_monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, (struct timespec *)time);
}
struct darwin_tm *darwin_localtime_r(const darwin_time_t *time, struct darwin_tm *parts) {
    return (struct darwin_tm *)localtime_r(time, (struct tm *)parts);
}
double darwin_exp(double x) { return exp(x); }
double darwin_log(double x) { return log(x); }
void darwin_free(void *memory) { free(memory); }
char *darwin_strdup(const char *text) { return strdup(text); }
char *darwin_strerror(int code) { return strerror(code); }
darwin_FILE *darwin_popen(const char *command, const char *mode) { return (darwin_FILE *)popen(command, mode); }
int darwin_pclose(darwin_FILE *file) { return pclose((FILE *)file); }
darwin_FILE *darwin_fopen(const char *path, const char *mode) { return (darwin_FILE *)fopen(path, mode); }
int darwin_fclose(darwin_FILE *file) { return fclose((FILE *)file); }
size_t darwin_fread(void *bytes, size_t size, size_t count, darwin_FILE *file) {
    return fread(bytes, size, count, (FILE *)file);
}
int darwin_fileno(darwin_FILE *file) { return fileno((FILE *)file); }
size_t darwin_fwrite(const void *bytes, size_t size, size_t count, darwin_FILE *file) {
    return fwrite(bytes, size, count, (FILE *)file);
}
int darwin_getrlimit(int resource, struct darwin_rlimit *limits) {
    return getrlimit((__rlimit_resource_t)resource, (struct rlimit *)limits);
}
int darwin_setrlimit(int resource, const struct darwin_rlimit *limits) {
    return setrlimit((__rlimit_resource_t)resource, (const struct rlimit *)limits);
}

// MARK: Terminals

int darwin_isatty(int descriptor) { return isatty(descriptor); }
int darwin_tcgetattr(int descriptor, struct darwin_termios *to) {
    struct termios from;
    if (tcgetattr(descriptor, &from) != 0) return -1;
    *to = (struct darwin_termios){from.c_iflag, from.c_oflag, from.c_cflag, from.c_lflag, {0},
        from.c_ispeed, from.c_ospeed};
    memcpy(to->c_cc, from.c_cc, sizeof to->c_cc);
    return 0;
}
int darwin_tcsetattr(int descriptor, int when, const struct darwin_termios *from) {
    struct termios to;
    if (tcgetattr(descriptor, &to) != 0) return -1;
    to.c_iflag = (tcflag_t)from->c_iflag;
    to.c_oflag = (tcflag_t)from->c_oflag;
    to.c_cflag = (tcflag_t)from->c_cflag;
    to.c_lflag = (tcflag_t)from->c_lflag;
    memcpy(to.c_cc, from->c_cc, sizeof from->c_cc);
    return tcsetattr(descriptor, when, &to);
}
int darwin_tcflush(int descriptor, int queue) { return tcflush(descriptor, queue); }

// MARK: Signals: a set of Apple's has a bit for each signal.

static sigset_t many(darwin_sigset_t set) {
    sigset_t result;
    sigemptyset(&result);
    for (int number = 1; number <= 32; number++)
        if (set >> (number - 1) & 1) sigaddset(&result, number);
    return result;
}
static darwin_sigset_t few(const sigset_t *set) {
    darwin_sigset_t result = 0;
    for (int number = 1; number <= 31; number++)
        if (sigismember(set, number) == 1) result |= 1u << (number - 1);
    return result;
}
int darwin_sigemptyset(darwin_sigset_t *set) {
    *set = 0;
    return 0;
}
int darwin_sigaddset(darwin_sigset_t *set, int number) {
    *set |= 1u << (number - 1);
    return 0;
}
int darwin_sigismember(const darwin_sigset_t *set, int number) { return *set >> (number - 1) & 1; }
int darwin_sigpending(darwin_sigset_t *set) {
    sigset_t pending;
    int result = sigpending(&pending);
    if (result == 0) *set = few(&pending);
    return result;
}
int darwin_sigwait(const darwin_sigset_t *set, int *number) {
    sigset_t wanted = many(*set);
    return sigwait(&wanted, number);
}
int darwin_pthread_sigmask(int how, const darwin_sigset_t *set, darwin_sigset_t *before) {
    sigset_t new, old;
    if (set) new = many(*set);
    int result = pthread_sigmask(how, set ? &new : NULL, &old);
    if (result == 0 && before) *before = few(&old);
    return result;
}
int darwin_sigaction_(int number, const struct darwin_sigaction *action, struct darwin_sigaction *before) {
    struct sigaction new = {0}, old;
    if (action) {
        // The union has a handler of one or of three parameters, at the same address.
        new.sa_handler = action->__sigaction_u.__sa_handler;
        new.sa_flags = action->sa_flags;
        new.sa_mask = many(action->sa_mask);
    }
    int result = sigaction(number, action ? &new : NULL, &old);
    if (result == 0 && before) {
        before->__sigaction_u.__sa_handler = old.sa_handler;
        before->sa_flags = old.sa_flags & ~0x04000000;  // SA_RESTORER, which the C library sets itself.
        before->sa_mask = few(&old.sa_mask);
    }
    return result;
}
void (*darwin_signal(int number, void (*handler)(int)))(int) { return signal(number, handler); }
int darwin_kill(darwin_pid_t process, int number) { return kill(process, number); }
int darwin_raise(int number) { return raise(number); }

// MARK: Threads

darwin_pthread_t darwin_pthread_self(void) { return (darwin_pthread_t)pthread_self(); }
_Static_assert(sizeof(pthread_attr_t) <= sizeof(darwin_pthread_attr_t), "the attributes have room for those of Linux");
int darwin_pthread_attr_init(darwin_pthread_attr_t *attributes) {
    return pthread_attr_init((pthread_attr_t *)attributes);
}
int darwin_pthread_attr_destroy(darwin_pthread_attr_t *attributes) {
    return pthread_attr_destroy((pthread_attr_t *)attributes);
}
int darwin_pthread_attr_setstacksize(darwin_pthread_attr_t *attributes, size_t size) {
    return pthread_attr_setstacksize((pthread_attr_t *)attributes, size);
}
int darwin_pthread_attr_setdetachstate(darwin_pthread_attr_t *attributes, int state) {
    return pthread_attr_setdetachstate((pthread_attr_t *)attributes, state);
}
int darwin_pthread_create(
    darwin_pthread_t *thread, const darwin_pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    return pthread_create((pthread_t *)thread, (const pthread_attr_t *)attributes, body, argument);
}
int darwin_pthread_join(darwin_pthread_t thread, void **result) { return pthread_join((pthread_t)thread, result); }
int darwin_pthread_key_create(darwin_pthread_key_t *key, void (*destroy)(void *)) {
    pthread_key_t number;
    int result = pthread_key_create(&number, destroy);
    if (result == 0) *key = number;
    return result;
}
void *darwin_pthread_getspecific(darwin_pthread_key_t key) { return pthread_getspecific((pthread_key_t)key); }
int darwin_pthread_setspecific(darwin_pthread_key_t key, const void *value) {
    return pthread_setspecific((pthread_key_t)key, value);
}
int darwin_pthread_setname_np(const char *name) { return pthread_setname_np(pthread_self(), name); }

// MARK: The image of this program: one, with the section of lists of tweaks where the linker puts it on Linux.

static const struct darwin_mach_header_64 image;
uint32_t darwin_dyld_image_count(void) { return 1; }
const struct darwin_mach_header *darwin_dyld_get_image_header(uint32_t number) {
    return (const struct darwin_mach_header *)&image;
}
extern uint8_t __start_tweaks_lists __attribute__((weak)), __stop_tweaks_lists __attribute__((weak));
uint8_t *darwin_getsectiondata(
    const struct darwin_mach_header_64 *header, const char *segment, const char *section, unsigned long *size) {
    if (strcmp(segment, "__DATA") != 0 || strcmp(section, "__tweaks") != 0) return NULL;
    *size = (unsigned long)(&__stop_tweaks_lists - &__start_tweaks_lists);
    return &__start_tweaks_lists;
}

// MARK: Starting programs: Apple's actions and attributes are pointers.

int darwin_spawn_actions_init(darwin_spawn_actions_t *actions) {
    *actions = calloc(1, sizeof(posix_spawn_file_actions_t));
    return posix_spawn_file_actions_init(*actions);
}
int darwin_spawn_actions_destroy(darwin_spawn_actions_t *actions) {
    int result = posix_spawn_file_actions_destroy(*actions);
    free(*actions);
    return result;
}
int darwin_spawn_actions_adddup2(darwin_spawn_actions_t *actions, int from, int to) {
    return posix_spawn_file_actions_adddup2(*actions, from, to);
}
int darwin_spawnattr_init(darwin_spawnattr_t *attributes) {
    *attributes = calloc(1, sizeof(posix_spawnattr_t));
    return posix_spawnattr_init(*attributes);
}
int darwin_spawnattr_destroy(darwin_spawnattr_t *attributes) {
    int result = posix_spawnattr_destroy(*attributes);
    free(*attributes);
    return result;
}
int darwin_spawnattr_setflags(darwin_spawnattr_t *attributes, short flags) {
    return posix_spawnattr_setflags(*attributes, flags);
}
int darwin_spawn(
    darwin_pid_t *process, const char *path, const darwin_spawn_actions_t *actions,
    const darwin_spawnattr_t *attributes, char *const *arguments, char *const *environment) {
    return posix_spawn(process, path, actions ? *actions : NULL, attributes ? *attributes : NULL, arguments, environment);
}
