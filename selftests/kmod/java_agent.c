// SPDX-License-Identifier: GPL-2.0
/*
 * An agent of a Java virtual machine: what that says of a thread's stack, and what perf delivers, at the same stop.
 *
 *	java -agentpath:libjava_agent.so=FILE ...
 *
 * SIGURG starts a timer, which sends SIGPROF to the thread that runs.  The handler asks the virtual machine for the
 * thread's Java frames (AsyncGetCallTrace()), and then makes a page fault, of which perf takes a sample.  In that sample
 * the frames above the signal's are those that the virtual machine was asked for.  The next SIGURG stops the timer.
 * (SIGPROF could not: while one is pending another is lost.)  Then a thread has the virtual machine tell of all its
 * compiled code, as it tells of new code late.
 * The agent writes records to FILE, of words of 8 bytes:
 *
 *	SAMPLE, words, ip, frames, each frame's method, each address of perf's
 *	CODE, words, start, bytes, method, then for places in it: address, methods there, the innermost first
 *	ALL_TOLD, 0: after the stop, when all code has been told of
 *
 * "words" are those that follow.  An answer that is none is a number of frames below 0, without methods.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <jvmti.h>
#include <jvmticmlr.h>

#define FRAMES	1024
#define PAGE	4096u
#define RING	(16 * PAGE)

enum { SAMPLE = 1, CODE, ALL_TOLD };

/* share/prims/forte.cpp of HotSpot */
struct call_frame {
	jint		line;
	jmethodID	method;
};

struct call_trace {
	JNIEnv			*env;
	jint			 frames;
	struct call_frame	*frame;
};

extern void AsyncGetCallTrace(struct call_trace *trace, jint depth, void *context);

static JavaVM *vm;
static jvmtiEnv *tools;
static int file;
static sem_t stopped;

/* Perf's samples of a thread: its ring, and the page that faults. */
static __thread char *ring __attribute__((tls_model("initial-exec")));

static void open_ring(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN, .exclude_kernel = 1, .exclude_callchain_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	char *memory = mmap(NULL, PAGE + RING + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || fd < 0 ||
	    mmap(memory, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != memory)
		abort();
	ring = memory;
}

static uint64_t ring_word(uint64_t at)
{
	return *(uint64_t *)(ring + PAGE + at % RING);
}

/* Fault, and copy the addresses of the sample that this makes.  Return: how many. */
static uint64_t take_sample(uint64_t *ips)
{
	volatile struct perf_event_mmap_page *head = (void *)ring;
	char *page = ring + PAGE + RING;
	uint64_t at, nr = 0, i;

	madvise(page, PAGE, MADV_DONTNEED);
	head->data_tail = head->data_head;
	*(volatile char *)page = 1;
	/* A sample's record has a header, the address of the fault, the number of frames, and the frames' addresses. */
	for (at = head->data_tail; at < head->data_head; at += ring_word(at) >> 48) {
		if ((uint32_t)ring_word(at) != PERF_RECORD_SAMPLE || ring_word(at + 8) != (uintptr_t)page)
			continue;
		nr = ring_word(at + 16);
		for (i = 0; i < nr && i < FRAMES; i++)
			ips[i] = ring_word(at + 24 + 8 * i);
	}
	return nr < FRAMES ? nr : FRAMES;
}

static void handler(int number, siginfo_t *info, void *context)
{
	static const struct itimerval often = { { 0, 4000 }, { 0, 4000 } }, never;
	static bool started;
	struct call_frame frame[FRAMES];
	struct call_trace trace = { .frame = frame };
	uint64_t words[4 + 2 * FRAMES], n = 4;
	jint i;

	(void)info;
	if (number == SIGURG) {
		setitimer(ITIMER_PROF, started ? &never : &often, NULL);
		if (started)
			sem_post(&stopped);
		started = true;
		return;
	}
	if ((*vm)->GetEnv(vm, (void **)&trace.env, JNI_VERSION_1_6) || !trace.env)
		return;
	if (!ring)
		open_ring();
	AsyncGetCallTrace(&trace, FRAMES, context);
	for (i = 0; i < trace.frames; i++)
		words[n++] = (uintptr_t)frame[i].method;
	n += take_sample(words + n);
	words[0] = SAMPLE;
	words[1] = n - 2;
	words[2] = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	words[3] = trace.frames;
	if (write(file, words, 8 * n) != (ssize_t)(8 * n))
		abort();
}

static void JNICALL on_code(jvmtiEnv *env, jmethodID method, jint size, const void *code, jint places,
			    const jvmtiAddrLocationMap *place, const void *info)
{
	const jvmtiCompiledMethodLoadInlineRecord *record = info;
	uint64_t *words = calloc(1 << 20, 8), n = 5;
	jint i, k;

	(void)env, (void)places, (void)place;
	words[0] = CODE;
	words[2] = (uintptr_t)code;
	words[3] = size;
	words[4] = (uintptr_t)method;
	for (; record; record = (const void *)record->header.next) {
		if (record->header.kind != JVMTI_CMLR_INLINE_INFO)
			continue;
		for (i = 0; i < record->numpcs && n < (1 << 20) - FRAMES; i++) {
			words[n++] = (uintptr_t)record->pcinfo[i].pc;
			words[n++] = record->pcinfo[i].numstackframes;
			for (k = 0; k < record->pcinfo[i].numstackframes && k < FRAMES - 2; k++)
				words[n++] = (uintptr_t)record->pcinfo[i].methods[k];
		}
	}
	words[1] = n - 2;
	if (write(file, words, 8 * n) != (ssize_t)(8 * n))
		abort();
	free(words);
}

/* AsyncGetCallTrace() leaves out methods without an ID.  GetClassMethods() gives each method of a class one. */
static void JNICALL on_class(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
	jmethodID *methods;
	jint n;

	(void)jni, (void)thread;
	if (!(*env)->GetClassMethods(env, class, &n, &methods))
		(*env)->Deallocate(env, (unsigned char *)methods);
}

static void *tell_all(void *arg)
{
	static const uint64_t words[2] = { ALL_TOLD };
	JNIEnv *jni;

	if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&jni, NULL))
		abort();
	while (sem_wait(&stopped))
		;
	if ((*tools)->GenerateEvents(tools, JVMTI_EVENT_COMPILED_METHOD_LOAD) ||
	    write(file, words, sizeof(words)) != sizeof(words))
		abort();
	(*vm)->DetachCurrentThread(vm);
	return arg;
}

static void JNICALL on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART };
	pthread_t teller;
	jclass *classes;
	jint n, i;

	if (!(*env)->GetLoadedClasses(env, &n, &classes)) {
		for (i = 0; i < n; i++)
			on_class(env, jni, thread, classes[i]);
		(*env)->Deallocate(env, (unsigned char *)classes);
	}
	(*env)->GenerateEvents(env, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	if (sem_init(&stopped, 0, 0) || pthread_create(&teller, NULL, tell_all, NULL))
		abort();
	sigaction(SIGPROF, &action, NULL);
	sigaction(SIGURG, &action, NULL);
}

/* As long as nobody wants to know when classes are loaded AsyncGetCallTrace() tells nothing. */
static void JNICALL on_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
	(void)env, (void)jni, (void)thread, (void)class;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java, char *path, void *reserved)
{
	const jvmtiEventCallbacks calls = {
		.VMInit = on_start, .ClassLoad = on_load, .ClassPrepare = on_class, .CompiledMethodLoad = on_code,
	};
	const jvmtiCapabilities wanted = { .can_generate_compiled_method_load_events = 1 };
	jvmtiEnv *env;

	(void)reserved;
	vm = java;
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (file < 0 || (*java)->GetEnv(java, (void **)&env, JVMTI_VERSION_1_2) ||
	    (*env)->AddCapabilities(env, &wanted) || (*env)->SetEventCallbacks(env, &calls, sizeof(calls)))
		return JNI_ERR;
	tools = env;
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_CLASS_LOAD, NULL);
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, NULL);
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
	return JNI_OK;
}
