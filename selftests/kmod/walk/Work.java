// SPDX-License-Identifier: GPL-2.0
/* Work.java SECONDS: runs interpreted, then compiled code, several calls deep. */
import java.util.*;

class Work {
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

	static int sort(int n) {
		List<String> words = new ArrayList<>();
		for (int i = 0; i < n; i++)
			words.add(Integer.toString(i * 7919 % n));
		Collections.sort(words, (a, b) -> b.compareTo(a));
		return words.hashCode();
	}

	public static void main(String[] args) {
		long end = System.nanoTime() + Integer.parseInt(args[0]) * 1000000000L;
		int sum = 0;
		while (System.nanoTime() < end)
			sum += fib(20) + sort(500);
		System.out.println(sum);
	}
}
