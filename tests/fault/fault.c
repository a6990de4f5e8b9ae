/* SPDX-License-Identifier: MIT */
/*
 * Makes calls fail in a program into which it is loaded (LD_PRELOAD), as the
 * shared page says. Memory and threads are intercepted by name. System calls
 * that the C library makes internally (fopen, fflush) have no name to
 * intercept, so a filter of the kernel (seccomp) turns each into a signal,
 * whose handler makes the call or lets it fail.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "page.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *at, size_t size);

static struct fault_page *page;
static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *,
				  void *(*)(void *), void *);

static bool fails(enum fault_kind kind)
{
	uint64_t n;

	if (!page)
		return false;
	n = atomic_fetch_add(&page->seen[kind], 1) + 1;
	if (page->kind != kind || !page->at ||
	    (page->goes_on ? n < page->at : n != page->at))
		return false;
	atomic_fetch_add(&page->failed, 1);
	return true;
}

/* ---- by name ---- */

void *malloc(size_t size)
{
	if (!fails(FAULT_MEMORY))
		return __libc_malloc(size);
	errno = ENOMEM;
	return NULL;
}

void *calloc(size_t n, size_t size)
{
	if (!fails(FAULT_MEMORY))
		return __libc_calloc(n, size);
	errno = ENOMEM;
	return NULL;
}

void *realloc(void *at, size_t size)
{
	if (!fails(FAULT_MEMORY))
		return __libc_realloc(at, size);
	errno = ENOMEM;
	return NULL;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how,
		   void *(*run)(void *), void *arg)
{
	return fails(FAULT_THREAD) ? EAGAIN
				   : real_pthread_create(thread, how, run, arg);
}

/* ---- system calls ---- */

static const struct {
	int number;
	enum fault_kind kind;
	int error;
} calls[] = {
#ifdef SYS_open
	{ SYS_open, FAULT_OPEN, EMFILE },
	{ SYS_rename, FAULT_RENAME, EIO },
#endif
	{ SYS_openat, FAULT_OPEN, EMFILE },
	{ SYS_read, FAULT_READ, EIO },
	{ SYS_pread64, FAULT_READ, EIO },
	{ SYS_write, FAULT_WRITE, ENOSPC },
	{ SYS_writev, FAULT_WRITE, ENOSPC },
	{ SYS_pwrite64, FAULT_WRITE, ENOSPC },
	{ SYS_fallocate, FAULT_WRITE, ENOSPC },
	{ SYS_ftruncate, FAULT_WRITE, EIO },
	{ SYS_renameat, FAULT_RENAME, EIO },
	{ SYS_renameat2, FAULT_RENAME, EIO },
	{ SYS_mmap, FAULT_MMAP, ENOMEM },
	{ SYS_fsync, FAULT_FSYNC, EIO },
};
#define CALLS (sizeof(calls) / sizeof(*calls))

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
static long long *argument(ucontext_t *context, int i)
{
	static const int registers[] = { REG_RDI, REG_RSI, REG_RDX,
					 REG_R10, REG_R8,  REG_R9 };

	return &context->uc_mcontext.gregs[registers[i]];
}
#define RESULT(context) (context)->uc_mcontext.gregs[REG_RAX]
#elif defined(__aarch64__)
#define ARCH		AUDIT_ARCH_AARCH64
static unsigned long long *argument(ucontext_t *context, int i)
{
	return &context->uc_mcontext.regs[i];
}
#define RESULT(context) (context)->uc_mcontext.regs[0]
#else
#error "made for x86-64 and aarch64"
#endif

/* Messages about a failure must get through. */
static bool is_message(int number, ucontext_t *context)
{
	return (number == SYS_write || number == SYS_writev) &&
	       *argument(context, 0) == STDERR_FILENO;
}

static void on_call(int signal, siginfo_t *info, void *at)
{
	ucontext_t *context = at;
	int number = info->si_syscall, before = errno;
	long result;

	(void)signal;
	for (size_t i = 0; i < CALLS; i++)
		if (calls[i].number == number && !is_message(number, context) &&
		    fails(calls[i].kind)) {
			RESULT(context) = -calls[i].error;
			return;
		}
	result = syscall(number, *argument(context, 0), *argument(context, 1),
			 *argument(context, 2), *argument(context, 3),
			 *argument(context, 4), *argument(context, 5));
	RESULT(context) = result == -1 ? -errno : result;
	errno = before;
}

#define LOAD(field)                                                            \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                     \
		 (uint32_t)offsetof(struct seccomp_data, field))
#define IF(how, value, yes, no)                                                \
	BPF_JUMP(BPF_JMP | (how) | BPF_K, value, yes, no)
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)

/* Calls from within syscall() pass: they are the handler's own. */
static bool filter(void)
{
	uint64_t own = (uint64_t)(uintptr_t)&syscall;
	struct sock_filter code[12 + 2 * CALLS] = {
		LOAD(arch),
		IF(BPF_JEQ, ARCH, 1, 0),
		ANSWER(SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 (uint32_t)offsetof(struct seccomp_data,
					    instruction_pointer) +
				 4),
		IF(BPF_JEQ, (uint32_t)(own >> 32), 0, 4),
		LOAD(instruction_pointer),
		IF(BPF_JGE, (uint32_t)own, 0, 2),
		IF(BPF_JGE, (uint32_t)own + 64, 1, 0),
		ANSWER(SECCOMP_RET_ALLOW),
		LOAD(nr),
	};
	struct sock_fprog program = { .filter = code };
	unsigned short n = 10;

	for (size_t i = 0; i < CALLS; i++) {
		code[n++] = (struct sock_filter)IF(
			BPF_JEQ, (uint32_t)calls[i].number, 0, 1);
		code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_TRAP);
	}
	code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
	program.len = n;
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

__attribute__((constructor)) static void begin(void)
{
	struct sigaction action = { .sa_sigaction = on_call,
				    .sa_flags = SA_SIGINFO | SA_NODEFER };
	const char *path = getenv(FAULT_PAGE_NAME);
	int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *at;

	*(void **)&real_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	if (file < 0)
		return;
	at = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, file,
		  0);
	close(file);
	if (at == MAP_FAILED)
		return;
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSYS, &action, NULL) || !filter())
		_exit(125);
	page = at;
}
