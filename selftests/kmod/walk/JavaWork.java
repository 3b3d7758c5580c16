// SPDX-License-Identifier: GPL-2.0
/* JavaWork.java MODE [SOURCE]: work of one kind until it is killed; "ready" when some of it is done. */
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.tools.ToolProvider;

class JavaWork {
	static volatile Object sink;
	static final Object lock = new Object();
	static final ConcurrentHashMap<Integer, Integer> shared = new ConcurrentHashMap<>();

	static boolean waits;

	static int spin(int n) {
		if (waits)
			Thread.yield();
		for (int i = 0; i < 1000000; i++)
			n = n * 31 + i;
		return n;
	}

	/* A loop below 61 calls. */
	static int down(int n) { return n == 0 ? spin(1) : down(n - 1) + 1; }

	static void streams() {
		sink = IntStream.range(0, 2000).mapToObj(Integer::toString).filter(x -> x.hashCode() % 3 != 0)
			.collect(Collectors.groupingBy(String::length, TreeMap::new,
				Collectors.mapping(x -> x.substring(1), Collectors.joining(","))));
		sink = IntStream.range(0, 500).boxed().sorted((a, b) -> b - a).map(x -> x * 2).reduce(0, Integer::sum);
	}

	static int throwing(int n) {
		if (n == 0)
			throw new IllegalStateException("the innermost");
		try {
			return throwing(n - 1) + 1;
		} finally {
			if (n % 7 == 0)
				sink = n;
		}
	}

	static void exceptions() {
		int caught = 0;
		for (int i = 0; i < 40; i++) {
			try {
				throwing(i);
			} catch (IllegalStateException e) {
				caught++;
			}
			try {
				sink = new int[3][caught + 3].length + ((String) (i % 2 == 0 ? "text" : sink)).length();
				sink = new int[2][i];
				((int[][]) sink)[2][i] = 1;
			} catch (ClassCastException | ArrayIndexOutOfBoundsException e) {
				caught++;
			}
		}
	}

	static void locks() {
		for (int i = 0; i < 200; i++) {
			synchronized (lock) {
				shared.merge(i % 50, 1, Integer::sum);
			}
			sink = i % 20 == 0 ? down(3) : shared.get(i % 50);
		}
	}

	static final List<BiConsumer<Object[], Object[]>> copies = Arrays.asList(
		(from, to) -> System.arraycopy(from, 0, to, 0, from.length),
		(from, to) -> { sink = from; System.arraycopy(from, 0, to, 0, from.length); },
		(from, to) -> { down(1, 2); System.arraycopy(from, 0, to, 0, from.length); });

	static int down(int a, int n) { return n == 0 ? a : down(a, n - 1) + 1; }

	/* Copies that have to compare types, some of which fail. */
	static void arrays() {
		Object[][] from = { { "a", "b" }, { 1, 2 }, { "a", 2 }, { 'a', 'b' } };
		Object[][] to = { new Comparable<?>[2], new Number[2], new Object[2], new CharSequence[2] };
		for (int i = 0; i < 96; i++) {
			try {
				copies.get(i % 3).accept(from[i / 3 % 4], to[i / 12 % 4]);
			} catch (ArrayStoreException e) {
				sink = e;
			}
		}
	}

	/* The loop below so many calls, in a virtual thread. */
	static void virtual(int calls) {
		try {
			Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);

			((Thread) start.invoke(null, (Runnable) () -> sink = down(calls))).join();
		} catch (ReflectiveOperationException | InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static void work(String[] args) {
		switch (args[0]) {
		case "depth": sink = down(60); break;
		case "streams": streams(); break;
		case "exceptions": exceptions(); break;
		case "locks": locks(); break;
		case "arrays": arrays(); break;
		case "virtual": virtual(60); break;
		/* With so many frames the virtual machine copies only the newest back after it has waited. */
		case "waiting": waits = true; virtual(400); break;
		case "javac": ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", "/tmp", args[1]); break;
		default: throw new IllegalArgumentException(args[0]);
		}
	}

	public static void main(String[] args) {
		List<Thread> threads = new ArrayList<>();
		for (int i = 1; i < (args[0].equals("locks") ? 6 : 1); i++)
			threads.add(new Thread(() -> { for (;;) work(args); }));
		threads.forEach(Thread::start);
		for (int i = 0; ; i++) {
			work(args);
			if (i == 5)
				System.out.println("ready");
		}
	}
}
