// SPDX-License-Identifier: GPL-2.0
// What the demo's flame graph shows: a program with calls that are inlined, and with work of the kernel.
// Counts the words of a file, again and again, for so many seconds: demo_words FILE SECONDS.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

using counts = std::unordered_map<std::string, unsigned>;
using ranking = std::vector<std::pair<unsigned, std::string>>;

static inline std::string lower(std::string word)
{
	std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
	return word;
}

static inline void count_word(counts &found, const std::string &word)
{
	found[lower(word)]++;
}

__attribute__((noinline)) static counts count_words(const std::string &text)
{
	std::istringstream words(text);
	std::string word;
	counts found;

	while (words >> word)
		count_word(found, word);
	return found;
}

__attribute__((noinline)) static ranking rank_words(const counts &found)
{
	ranking ranked;

	for (const auto &entry : found)
		ranked.emplace_back(entry.second, entry.first);
	std::sort(ranked.rbegin(), ranked.rend());
	return ranked;
}

__attribute__((noinline)) static std::string read_text(const char *path)
{
	std::ostringstream text;

	text << std::ifstream(path).rdbuf();
	return text.str();
}

int main(int argc, char **argv)
{
	auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(argc > 2 ? atof(argv[2]) : 1);
	size_t ranked = 0;

	while (argc > 1 && std::chrono::steady_clock::now() < end)
		ranked += rank_words(count_words(read_text(argv[1]))).size();
	return !ranked;
}
