// Declares the part of Apple's C library that this package uses, for a check of its Darwin code on Linux.
//
// Types, layouts and signatures are those of Apple's headers, which each section names; they are published in
// apple-oss-distributions/xnu and apple-oss-distributions/Libc. A declaration `darwin_x` has the name `x` in Swift.
// It includes no header of Linux, so that a name that is missing here does not silently mean Linux's.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NAMED(name) __attribute__((swift_name(#name)))

// sys/_types.h, sys/_types/*.h, arm/_types.h
typedef uint16_t darwin_mode_t NAMED(mode_t);
typedef uint16_t darwin_nlink_t NAMED(nlink_t);
typedef int32_t darwin_dev_t NAMED(dev_t);
typedef uint32_t darwin_uid_t NAMED(uid_t);
typedef uint32_t darwin_gid_t NAMED(gid_t);
typedef int32_t darwin_pid_t NAMED(pid_t);
typedef int64_t darwin_off_t NAMED(off_t);
typedef long darwin_time_t NAMED(time_t);
typedef int32_t darwin_suseconds_t NAMED(suseconds_t);
typedef uint32_t darwin_socklen_t NAMED(socklen_t);
typedef long darwin_ssize_t NAMED(ssize_t);
struct darwin_timespec {
    darwin_time_t tv_sec;
    long tv_nsec;
} NAMED(timespec);
struct darwin_timeval {
    darwin_time_t tv_sec;
    darwin_suseconds_t tv_usec;
} NAMED(timeval);

// sys/event.h
#pragma pack(4)
struct darwin_kevent {
    uintptr_t ident;
    int16_t filter;
    uint16_t flags;
    uint32_t fflags;
    intptr_t data;
    void *udata;
} NAMED(kevent);
#pragma pack()
#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ENABLE 0x0004
#define EV_DISABLE 0x0008
#define EV_CLEAR 0x0020
#define EV_EOF 0x8000
#define EV_ERROR 0x4000
int darwin_kqueue(void) NAMED(kqueue());
int darwin_kevent_(
    int queue, const struct darwin_kevent *changes, int changeCount, struct darwin_kevent *events, int eventCount,
    const struct darwin_timespec *timeout) NAMED(kevent(_:_:_:_:_:_:));

// sys/stat.h
struct darwin_stat {
    darwin_dev_t st_dev;
    darwin_mode_t st_mode;
    darwin_nlink_t st_nlink;
    uint64_t st_ino;
    darwin_uid_t st_uid;
    darwin_gid_t st_gid;
    darwin_dev_t st_rdev;
    struct darwin_timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
    darwin_off_t st_size;
    int64_t st_blocks;
    int32_t st_blksize;
    uint32_t st_flags, st_gen;
} NAMED(stat);
int darwin_stat_(const char *path, struct darwin_stat *info) NAMED(stat(_:_:));
int darwin_lstat(const char *path, struct darwin_stat *info) NAMED(lstat(_:_:));
int darwin_fstat(int descriptor, struct darwin_stat *info) NAMED(fstat(_:_:));
int darwin_fstatat(int folder, const char *path, struct darwin_stat *info, int flags) NAMED(fstatat(_:_:_:_:));
int darwin_chmod(const char *path, darwin_mode_t mode) NAMED(chmod(_:_:));
int darwin_fchmod(int descriptor, darwin_mode_t mode) NAMED(fchmod(_:_:));
int darwin_mkdir(const char *path, darwin_mode_t mode) NAMED(mkdir(_:_:));
int darwin_mkdirat(int folder, const char *path, darwin_mode_t mode) NAMED(mkdirat(_:_:_:));
int darwin_mkfifo(const char *path, darwin_mode_t mode) NAMED(mkfifo(_:_:));
darwin_mode_t darwin_umask(darwin_mode_t mode) NAMED(umask(_:));

// sys/statvfs.h
struct darwin_statvfs {
    unsigned long f_bsize, f_frsize;
    unsigned int f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail;
    unsigned long f_fsid, f_flag, f_namemax;
} NAMED(statvfs);
int darwin_statvfs_(const char *path, struct darwin_statvfs *info) NAMED(statvfs(_:_:));

// sys/socket.h
typedef uint8_t darwin_sa_family_t NAMED(sa_family_t);
struct darwin_sockaddr {
    uint8_t sa_len;
    darwin_sa_family_t sa_family;
    char sa_data[14];
} NAMED(sockaddr);
struct darwin_sockaddr_storage {
    uint8_t ss_len;
    darwin_sa_family_t ss_family;
    char __ss_pad1[6];
    int64_t __ss_align;
    char __ss_pad2[112];
} NAMED(sockaddr_storage);
struct darwin_linger {
    int l_onoff, l_linger;
} NAMED(linger);
int darwin_socket(int family, int kind, int protocol) NAMED(socket(_:_:_:));
int darwin_socketpair(int family, int kind, int protocol, int *ends) NAMED(socketpair(_:_:_:_:));
int darwin_bind(int socket, const struct darwin_sockaddr *address, darwin_socklen_t length) NAMED(bind(_:_:_:));
int darwin_listen(int socket, int backlog) NAMED(listen(_:_:));
int darwin_connect(int socket, const struct darwin_sockaddr *address, darwin_socklen_t length) NAMED(connect(_:_:_:));
int darwin_accept(int socket, struct darwin_sockaddr *address, darwin_socklen_t *length) NAMED(accept(_:_:_:));
int darwin_getsockname(int socket, struct darwin_sockaddr *address, darwin_socklen_t *length)
    NAMED(getsockname(_:_:_:));
int darwin_getpeername(int socket, struct darwin_sockaddr *address, darwin_socklen_t *length)
    NAMED(getpeername(_:_:_:));
darwin_ssize_t darwin_send(int socket, const void *bytes, size_t count, int flags) NAMED(send(_:_:_:_:));
darwin_ssize_t darwin_recv(int socket, void *bytes, size_t count, int flags) NAMED(recv(_:_:_:_:));
darwin_ssize_t darwin_sendto(
    int socket, const void *bytes, size_t count, int flags, const struct darwin_sockaddr *address,
    darwin_socklen_t length) NAMED(sendto(_:_:_:_:_:_:));
int darwin_setsockopt(int socket, int level, int name, const void *value, darwin_socklen_t length)
    NAMED(setsockopt(_:_:_:_:_:));
int darwin_getsockopt(int socket, int level, int name, void *value, darwin_socklen_t *length)
    NAMED(getsockopt(_:_:_:_:_:));
int darwin_shutdown(int socket, int how) NAMED(shutdown(_:_:));

// sys/un.h, netinet/in.h
struct darwin_sockaddr_un {
    unsigned char sun_len;
    darwin_sa_family_t sun_family;
    char sun_path[104];
} NAMED(sockaddr_un);
typedef uint16_t darwin_in_port_t NAMED(in_port_t);
struct darwin_in_addr {
    uint32_t s_addr;
} NAMED(in_addr);
struct darwin_in6_addr {
    uint8_t bytes[16];
} NAMED(in6_addr);
struct darwin_sockaddr_in {
    uint8_t sin_len;
    darwin_sa_family_t sin_family;
    darwin_in_port_t sin_port;
    struct darwin_in_addr sin_addr;
    char sin_zero[8];
} NAMED(sockaddr_in);
struct darwin_sockaddr_in6 {
    uint8_t sin6_len;
    darwin_sa_family_t sin6_family;
    darwin_in_port_t sin6_port;
    uint32_t sin6_flowinfo;
    struct darwin_in6_addr sin6_addr;
    uint32_t sin6_scope_id;
} NAMED(sockaddr_in6);
extern const struct darwin_in6_addr darwin_in6addr_loopback NAMED(in6addr_loopback);

// netdb.h, arpa/inet.h
struct darwin_addrinfo {
    int ai_flags, ai_family, ai_socktype, ai_protocol;
    darwin_socklen_t ai_addrlen;
    char *ai_canonname;
    struct darwin_sockaddr *ai_addr;
    struct darwin_addrinfo *ai_next;
} NAMED(addrinfo);
int darwin_getaddrinfo(
    const char *host, const char *port, const struct darwin_addrinfo *hints, struct darwin_addrinfo **list)
    NAMED(getaddrinfo(_:_:_:_:));
void darwin_freeaddrinfo(struct darwin_addrinfo *list) NAMED(freeaddrinfo(_:));
const char *darwin_gai_strerror(int code) NAMED(gai_strerror(_:));
int darwin_getnameinfo(
    const struct darwin_sockaddr *address, darwin_socklen_t length, char *host, darwin_socklen_t hostLength,
    char *port, darwin_socklen_t portLength, int flags) NAMED(getnameinfo(_:_:_:_:_:_:_:));
uint32_t darwin_inet_addr(const char *text) NAMED(inet_addr(_:));
int darwin_inet_pton(int family, const char *text, void *address) NAMED(inet_pton(_:_:_:));
const char *darwin_inet_ntop(int family, const void *address, char *text, darwin_socklen_t length)
    NAMED(inet_ntop(_:_:_:_:));

// poll.h
typedef unsigned int darwin_nfds_t NAMED(nfds_t);
struct darwin_pollfd {
    int fd;
    short events, revents;
} NAMED(pollfd);
int darwin_poll(struct darwin_pollfd *entries, darwin_nfds_t count, int milliseconds) NAMED(poll(_:_:_:));

// sys/ucred.h
struct darwin_xucred {
    unsigned int cr_version;
    darwin_uid_t cr_uid;
    short cr_ngroups;
    darwin_gid_t cr_groups[16];
} NAMED(xucred);

// unistd.h
int darwin_access(const char *path, int mode) NAMED(access(_:_:));
int darwin_chown(const char *path, darwin_uid_t user, darwin_gid_t group) NAMED(chown(_:_:_:));
int darwin_close(int descriptor) NAMED(close(_:));
int darwin_dup(int descriptor) NAMED(dup(_:));
int darwin_dup2(int from, int to) NAMED(dup2(_:_:));
int darwin_execv(const char *path, char *const *arguments) NAMED(execv(_:_:));
void darwin_exit_now(int status) __attribute__((noreturn)) NAMED(_exit(_:));
int darwin_fchown(int descriptor, darwin_uid_t user, darwin_gid_t group) NAMED(fchown(_:_:_:));
int darwin_fsync(int descriptor) NAMED(fsync(_:));
int darwin_ftruncate(int descriptor, darwin_off_t size) NAMED(ftruncate(_:_:));
char *darwin_getcwd(char *path, size_t size) NAMED(getcwd(_:_:));
darwin_gid_t darwin_getegid(void) NAMED(getegid());
darwin_uid_t darwin_geteuid(void) NAMED(geteuid());
darwin_gid_t darwin_getgid(void) NAMED(getgid());
darwin_uid_t darwin_getuid(void) NAMED(getuid());
int darwin_gethostname(char *name, size_t size) NAMED(gethostname(_:_:));
int darwin_getpeereid(int socket, darwin_uid_t *user, darwin_gid_t *group) NAMED(getpeereid(_:_:_:));
darwin_pid_t darwin_getpid(void) NAMED(getpid());
int darwin_getdtablesize(void) NAMED(getdtablesize());
int darwin_isatty(int descriptor) NAMED(isatty(_:));
int darwin_lchown(const char *path, darwin_uid_t user, darwin_gid_t group) NAMED(lchown(_:_:_:));
int darwin_link(const char *from, const char *to) NAMED(link(_:_:));
int darwin_linkat(int fromFolder, const char *from, int toFolder, const char *to, int flags)
    NAMED(linkat(_:_:_:_:_:));
darwin_off_t darwin_lseek(int descriptor, darwin_off_t offset, int from) NAMED(lseek(_:_:_:));
int darwin_pause(void) NAMED(pause());
int darwin_pipe(int *ends) NAMED(pipe(_:));
darwin_ssize_t darwin_pread(int descriptor, void *bytes, size_t count, darwin_off_t offset) NAMED(pread(_:_:_:_:));
darwin_ssize_t darwin_read(int descriptor, void *bytes, size_t count) NAMED(read(_:_:_:));
darwin_ssize_t darwin_readlink(const char *path, char *target, size_t size) NAMED(readlink(_:_:_:));
int darwin_renameat(int fromFolder, const char *from, int toFolder, const char *to) NAMED(renameat(_:_:_:_:));
int darwin_rmdir(const char *path) NAMED(rmdir(_:));
uint32_t darwin_sleep(uint32_t seconds) NAMED(sleep(_:));
int darwin_symlink(const char *target, const char *path) NAMED(symlink(_:_:));
int darwin_unlink(const char *path) NAMED(unlink(_:));
int darwin_unlinkat(int folder, const char *path, int flags) NAMED(unlinkat(_:_:_:));
int darwin_usleep(uint32_t microseconds) NAMED(usleep(_:));
darwin_ssize_t darwin_write(int descriptor, const void *bytes, size_t count) NAMED(write(_:_:_:));

// sys/fcntl.h, sys/file.h
int darwin_flock(int descriptor, int operation) NAMED(flock(_:_:));

// stdio.h, stdlib.h, string.h, time.h, math.h
typedef struct darwin_file {
    void *stream;
} darwin_FILE NAMED(FILE);
int darwin_rename(const char *from, const char *to) NAMED(rename(_:_:));
darwin_FILE *darwin_popen(const char *command, const char *mode) NAMED(popen(_:_:));
int darwin_pclose(darwin_FILE *file) NAMED(pclose(_:));
darwin_FILE *darwin_fopen(const char *path, const char *mode) NAMED(fopen(_:_:));
int darwin_fclose(darwin_FILE *file) NAMED(fclose(_:));
size_t darwin_fread(void *bytes, size_t size, size_t count, darwin_FILE *file) NAMED(fread(_:_:_:_:));
int darwin_fileno(darwin_FILE *file) NAMED(fileno(_:));
size_t darwin_fwrite(const void *bytes, size_t size, size_t count, darwin_FILE *file) NAMED(fwrite(_:_:_:_:));
void darwin_exit(int status) __attribute__((noreturn)) NAMED(exit(_:));
void darwin_abort(void) __attribute__((noreturn)) NAMED(abort());
void darwin_free(void *memory) NAMED(free(_:));
int darwin_atexit(void (*_Nonnull call)(void)) NAMED(atexit(_:));
int darwin_grantpt(int descriptor) NAMED(grantpt(_:));
int darwin_unlockpt(int descriptor) NAMED(unlockpt(_:));
char *darwin_ptsname(int descriptor) NAMED(ptsname(_:));
int darwin_posix_openpt(int flags) NAMED(posix_openpt(_:));
void *darwin_memchr(const void *bytes, int byte, size_t count) NAMED(memchr(_:_:_:));
char *darwin_getenv(const char *name) NAMED(getenv(_:));
int darwin_setenv(const char *name, const char *value, int overwrites) NAMED(setenv(_:_:_:));
int darwin_unsetenv(const char *name) NAMED(unsetenv(_:));
char *darwin_mkdtemp(char *pattern) NAMED(mkdtemp(_:));
char *darwin_realpath(const char *path, char *result) NAMED(realpath(_:_:));
char *darwin_strdup(const char *text) NAMED(strdup(_:));
char *darwin_strerror(int code) NAMED(strerror(_:));
struct darwin_tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
    long tm_gmtoff;
    char *tm_zone;
} NAMED(tm);
struct darwin_tm *darwin_localtime_r(const darwin_time_t *time, struct darwin_tm *parts) NAMED(localtime_r(_:_:));
enum darwin_clockid : unsigned int { darwin_realtime = 0, darwin_monotonic = 6 };
typedef enum darwin_clockid darwin_clockid_t NAMED(clockid_t);
int darwin_clock_gettime(darwin_clockid_t clock, struct darwin_timespec *time) NAMED(clock_gettime(_:_:));
double darwin_exp(double x) NAMED(exp(_:));
double darwin_log(double x) NAMED(log(_:));

// pwd.h, grp.h
struct darwin_passwd {
    char *pw_name, *pw_passwd;
    darwin_uid_t pw_uid;
    darwin_gid_t pw_gid;
    darwin_time_t pw_change;
    char *pw_class, *pw_gecos, *pw_dir, *pw_shell;
    darwin_time_t pw_expire;
} NAMED(passwd);
struct darwin_passwd *darwin_getpwuid(darwin_uid_t user) NAMED(getpwuid(_:));
struct darwin_passwd *darwin_getpwnam(const char *name) NAMED(getpwnam(_:));

// sys/termios.h, sys/ttycom.h
typedef unsigned long darwin_tcflag_t NAMED(tcflag_t);
struct darwin_termios {
    darwin_tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
    uint8_t c_cc[20];
    unsigned long c_ispeed, c_ospeed;
} NAMED(termios);
struct darwin_winsize {
    unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
} NAMED(winsize);
int darwin_tcgetattr(int descriptor, struct darwin_termios *settings) NAMED(tcgetattr(_:_:));
int darwin_tcsetattr(int descriptor, int when, const struct darwin_termios *settings) NAMED(tcsetattr(_:_:_:));
int darwin_tcflush(int descriptor, int queue) NAMED(tcflush(_:_:));

// sys/signal.h, signal.h
typedef uint32_t darwin_sigset_t NAMED(sigset_t);
struct darwin_siginfo;
union darwin_sigaction_u {
    void (*__sa_handler)(int);
    void (*__sa_sigaction)(int, struct darwin_siginfo *, void *);
} NAMED(__sigaction_u);
struct darwin_sigaction {
    union darwin_sigaction_u __sigaction_u;
    darwin_sigset_t sa_mask;
    int sa_flags;
} NAMED(sigaction);
int darwin_sigaction_(int number, const struct darwin_sigaction *action, struct darwin_sigaction *before)
    NAMED(sigaction(_:_:_:));
int darwin_sigemptyset(darwin_sigset_t *set) NAMED(sigemptyset(_:));
int darwin_sigaddset(darwin_sigset_t *set, int number) NAMED(sigaddset(_:_:));
int darwin_sigismember(const darwin_sigset_t *set, int number) NAMED(sigismember(_:_:));
int darwin_sigpending(darwin_sigset_t *set) NAMED(sigpending(_:));
int darwin_sigwait(const darwin_sigset_t *set, int *number) NAMED(sigwait(_:_:));
int darwin_pthread_sigmask(int how, const darwin_sigset_t *set, darwin_sigset_t *before)
    NAMED(pthread_sigmask(_:_:_:));
void (*darwin_signal(int number, void (*handler)(int)))(int) NAMED(signal(_:_:));
int darwin_kill(darwin_pid_t process, int number) NAMED(kill(_:_:));
int darwin_raise(int number) NAMED(raise(_:));

// pthread.h, sys/_pthread/_pthread_types.h
struct darwin_opaque_pthread {
    long __sig;
} NAMED(_opaque_pthread_t);
typedef struct darwin_opaque_pthread *darwin_pthread_t NAMED(pthread_t);
typedef struct {
    long __sig;
    char __opaque[56];
} darwin_pthread_attr_t NAMED(pthread_attr_t);
typedef unsigned long darwin_pthread_key_t NAMED(pthread_key_t);
darwin_pthread_t _Nonnull darwin_pthread_self(void) NAMED(pthread_self());
int darwin_pthread_attr_init(darwin_pthread_attr_t *_Nonnull attributes) NAMED(pthread_attr_init(_:));
int darwin_pthread_attr_destroy(darwin_pthread_attr_t *_Nonnull attributes) NAMED(pthread_attr_destroy(_:));
int darwin_pthread_attr_setstacksize(darwin_pthread_attr_t *_Nonnull attributes, size_t size)
    NAMED(pthread_attr_setstacksize(_:_:));
int darwin_pthread_attr_setdetachstate(darwin_pthread_attr_t *_Nonnull attributes, int state)
    NAMED(pthread_attr_setdetachstate(_:_:));
int darwin_pthread_create(
    darwin_pthread_t _Nullable *_Nonnull thread, const darwin_pthread_attr_t *_Nullable attributes,
    void *_Nullable (*_Nonnull body)(void *_Nonnull), void *_Nullable argument) NAMED(pthread_create(_:_:_:_:));
int darwin_pthread_join(darwin_pthread_t _Nonnull thread, void *_Nullable *_Nullable result)
    NAMED(pthread_join(_:_:));
int darwin_pthread_key_create(darwin_pthread_key_t *_Nonnull key, void (*_Nullable destroy)(void *_Nonnull))
    NAMED(pthread_key_create(_:_:));
void *_Nullable darwin_pthread_getspecific(darwin_pthread_key_t key) NAMED(pthread_getspecific(_:));
int darwin_pthread_setspecific(darwin_pthread_key_t key, const void *_Nullable value)
    NAMED(pthread_setspecific(_:_:));
int darwin_pthread_setname_np(const char *_Nonnull name) NAMED(pthread_setname_np(_:));

// sys/dirent.h, dirent.h
struct darwin_dirent {
    uint64_t d_ino, d_seekoff;
    uint16_t d_reclen, d_namlen;
    uint8_t d_type;
    char d_name[1024];
} NAMED(dirent);
typedef struct darwin_directory {
    void *stream;
    struct darwin_dirent entry;
} darwin_DIR NAMED(DIR);
darwin_DIR *darwin_opendir(const char *path) NAMED(opendir(_:));
darwin_DIR *darwin_fdopendir(int descriptor) NAMED(fdopendir(_:));
struct darwin_dirent *darwin_readdir(darwin_DIR *folder) NAMED(readdir(_:));
int darwin_closedir(darwin_DIR *folder) NAMED(closedir(_:));

// sys/resource.h
struct darwin_rlimit {
    uint64_t rlim_cur, rlim_max;
} NAMED(rlimit);
int darwin_getrlimit(int resource, struct darwin_rlimit *limits) NAMED(getrlimit(_:_:));
int darwin_setrlimit(int resource, const struct darwin_rlimit *limits) NAMED(setrlimit(_:_:));

// spawn.h
typedef void *darwin_spawn_actions_t NAMED(posix_spawn_file_actions_t);
typedef void *darwin_spawnattr_t NAMED(posix_spawnattr_t);
int darwin_spawn_actions_init(darwin_spawn_actions_t *actions) NAMED(posix_spawn_file_actions_init(_:));
int darwin_spawn_actions_destroy(darwin_spawn_actions_t *actions) NAMED(posix_spawn_file_actions_destroy(_:));
int darwin_spawn_actions_adddup2(darwin_spawn_actions_t *actions, int from, int to)
    NAMED(posix_spawn_file_actions_adddup2(_:_:_:));
int darwin_spawnattr_init(darwin_spawnattr_t *attributes) NAMED(posix_spawnattr_init(_:));
int darwin_spawnattr_destroy(darwin_spawnattr_t *attributes) NAMED(posix_spawnattr_destroy(_:));
int darwin_spawnattr_setflags(darwin_spawnattr_t *attributes, short flags) NAMED(posix_spawnattr_setflags(_:_:));
int darwin_spawn(
    darwin_pid_t *process, const char *path, const darwin_spawn_actions_t *actions,
    const darwin_spawnattr_t *attributes, char *const *arguments, char *const *environment)
    NAMED(posix_spawn(_:_:_:_:_:_:));

// sys/wait.h
darwin_pid_t darwin_waitpid(darwin_pid_t process, int *status, int options) NAMED(waitpid(_:_:_:));

// Numbers: macros of Apple's headers, with the type int. Their values are those of Linux, which the calls get.
#define CONSTANTS(C) \
    C(STDIN_FILENO) C(STDOUT_FILENO) C(STDERR_FILENO) C(EINTR) C(SIGXFSZ) C(EPROTO) C(EAGAIN) C(EPERM) C(ENOENT) C(EACCES) C(EWOULDBLOCK) C(EMFILE) C(ENFILE) C(ETIMEDOUT) C(EPIPE) \
    C(EINPROGRESS) C(EEXIST) C(ECONNREFUSED) C(ECONNRESET) C(ESTALE) C(EROFS) C(ENOTDIR) C(ENOSPC) C(ELOOP) \
    C(ECONNABORTED) C(EBADF) C(EPROTOTYPE) C(ENXIO) C(ENOSYS) C(ENOMEM) C(ENAMETOOLONG) C(EISDIR) C(EDQUOT) \
    C(EADDRINUSE) C(EIO) C(EINVAL) C(ENOTSUP) C(ENOBUFS) C(ENOTEMPTY) C(ENOTCONN) C(EXDEV) C(ESRCH) C(ECHILD) \
    C(EHOSTUNREACH) C(ENETUNREACH) C(EAFNOSUPPORT) C(EADDRNOTAVAIL) C(E2BIG) C(ENOTSOCK) C(EMLINK) C(EFBIG) \
    C(EBUSY) C(EOPNOTSUPP) C(SIGHUP) C(SIGTERM) C(SIGINT) C(SIGPIPE) C(SIGTSTP) C(SIGWINCH) C(SIGCONT) \
    C(SIGTRAP) C(SIGSEGV) C(SIGQUIT) C(SIGILL) C(SIGFPE) C(SIGBUS) C(SIGABRT) C(SIGKILL) C(SIGUSR1) C(SIGUSR2) \
    C(SIGCHLD) C(SIGSTOP) C(SIGALRM) C(SIG_BLOCK) C(SIG_UNBLOCK) C(SIG_SETMASK) C(O_NONBLOCK) C(O_RDONLY) \
    C(O_CLOEXEC) C(O_NOFOLLOW) C(O_NOCTTY) C(O_CREAT) C(O_WRONLY) C(O_DIRECTORY) C(O_RDWR) C(O_EXCL) C(O_APPEND) \
    C(O_TRUNC) C(F_SETFD) C(FD_CLOEXEC) C(F_SETFL) C(F_GETFL) C(F_GETFD) C(F_DUPFD) C(F_DUPFD_CLOEXEC) C(SO_ACCEPTCONN) C(POSIX_SPAWN_SETPGROUP) C(AF_UNIX) C(AF_INET) \
    C(AF_INET6) C(AF_UNSPEC) C(SOL_SOCKET) C(SO_RCVBUF) C(SO_SNDBUF) C(SO_TYPE) C(SO_SNDTIMEO) C(SO_RCVTIMEO) \
    C(SO_REUSEADDR) C(SO_LINGER) C(SO_KEEPALIVE) C(SO_ERROR) C(TCP_NODELAY) C(TCP_KEEPINTVL) C(TCP_KEEPCNT) \
    C(IPV6_V6ONLY) C(POLLIN) C(POLLOUT) C(POLLNVAL) C(POLLHUP) C(POLLERR) C(TCSANOW) C(TCSAFLUSH) C(TCIFLUSH) \
    C(LOCK_EX) C(LOCK_UN) C(LOCK_NB) C(LOCK_SH) C(F_OK) C(X_OK) C(W_OK) C(R_OK) C(ISIG) C(ICANON) C(ECHO) \
    C(IEXTEN) C(IXON) C(ICRNL) C(INLCR) C(OPOST) C(VSUSP) C(VMIN) C(VTIME) C(VINTR) C(SEEK_SET) C(SEEK_END) C(PATH_MAX) \
    C(ST_RDONLY) C(NI_NUMERICSERV) C(NI_NUMERICHOST) C(AI_PASSIVE) C(AI_NUMERICHOST) C(AT_FDCWD) C(AT_REMOVEDIR) \
    C(AT_SYMLINK_NOFOLLOW) C(WNOHANG) C(SOMAXCONN) C(EXIT_FAILURE) C(EXIT_SUCCESS) C(MSG_PEEK) C(MSG_DONTWAIT) \
    C(MSG_OOB) C(MSG_WAITALL) C(SHUT_RD) C(SHUT_WR) C(SHUT_RDWR) C(IPPROTO_TCP) C(IPPROTO_IPV6) C(PTHREAD_CREATE_DETACHED)
#define CONSTANT(name) extern const int darwin_##name NAMED(name);
CONSTANTS(CONSTANT)

// crt_externs.h, mach-o/dyld.h, mach-o/loader.h, mach-o/getsect.h
char *_Nullable *_Nullable *_Nonnull darwin_environment(void) NAMED(_NSGetEnviron());
int darwin_executable_path(char *_Nonnull path, uint32_t *_Nonnull size) NAMED(_NSGetExecutablePath(_:_:));
struct darwin_mach_header {
    uint32_t magic;
    int32_t cputype, cpusubtype;
    uint32_t filetype, ncmds, sizeofcmds, flags;
} NAMED(mach_header);
struct darwin_mach_header_64 {
    uint32_t magic;
    int32_t cputype, cpusubtype;
    uint32_t filetype, ncmds, sizeofcmds, flags, reserved;
} NAMED(mach_header_64);
uint32_t darwin_dyld_image_count(void) NAMED(_dyld_image_count());
const struct darwin_mach_header *_Nullable darwin_dyld_get_image_header(uint32_t image)
    NAMED(_dyld_get_image_header(_:));
uint8_t *_Nullable darwin_getsectiondata(
    const struct darwin_mach_header_64 *_Nonnull header, const char *_Nonnull segment, const char *_Nonnull section,
    unsigned long *_Nonnull size) NAMED(getsectiondata(_:_:_:_:));

// The numbers of options that Linux has not.
extern const int standin_SO_NOSIGPIPE, standin_SOL_LOCAL, standin_LOCAL_PEERCRED, standin_LOCAL_PEERPID,
    standin_F_FULLFSYNC;

// What Swift's overlay of Apple's library wraps: errno, and functions with a variable number of arguments.
int *standin_errno(void);
int standin_open(const char *path, int flags, darwin_mode_t mode);
int standin_openat(int folder, const char *path, int flags, darwin_mode_t mode);
int standin_fcntl(int descriptor, int command, long argument);
int standin_ioctl(int descriptor, unsigned long request, void *argument);
