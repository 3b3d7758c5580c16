// SPDX-License-Identifier: GPL-2.0
// Exceptions in flight: through frames with and without cleanups, rethrown, nested.
#include <stdexcept>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

struct guard {
	std::string text;
	explicit guard(int n) : text(n, 'x') {}
	NOINLINE ~guard() { sink = sink + text.size(); }
};

NOINLINE static int thrower(int n)
{
	if (n == 0)
		throw std::runtime_error("bottom");
	return thrower(n - 1) + 1;
}

NOINLINE static int with_cleanup(int n)
{
	guard one(n), two(2 * n);

	return thrower(n) + one.text.size();
}

NOINLINE static int rethrow(int n)
{
	try {
		return with_cleanup(n);
	} catch (const std::exception &e) {
		guard third(3);

		try {
			throw n;
		} catch (int m) {
			sink = sink + m;
		}
		throw;
	}
}

struct base {
	virtual ~base() {}
	virtual int get(int n) { return n; }
};

struct derived : base {
	int get(int n) override { return n ? base::get(n) + 1 : rethrow(3); }
};

// Once, or as often as the argument says.
int main(int argc, char **argv)
{
	std::vector<std::string> texts;
	derived object;
	base *pointer = &object;
	int times = argc > 1 ? std::stoi(argv[1]) : 1;

	for (int i = 0; i < 2 * times; i++) {
		try {
			sink = sink + pointer->get(i & 1);
		} catch (const std::runtime_error &e) {
			texts.push_back(e.what());
		}
	}
	return texts.size() == size_t(times) ? 0 : 1;
}
