// SPDX-License-Identifier: MIT
//
// What RMM's replay benchmark does (benchmarks/replay/replay.cpp): the actions of
// an RMM log, once more, through one of RMM's resources, on the runtime without a
// device (SIMCUDA_CAPACITY).  RMM writes a log of it, which gpupool reads.
//
//	rmm-replay pool|grow|arena|binning LOG NEW_LOG
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include <rmm/mr/logging_resource_adaptor.hpp>

#include "rmm_resources.hpp"

namespace {

struct Block {
	void *address;
	std::size_t size;
};

using Logging =
	rmm::mr::logging_resource_adaptor<rmm::mr::device_memory_resource>;

std::uint64_t hex(const std::string &text)
{
	return std::strtoull(text.c_str(), nullptr, 16);
}

void replay(std::istream &log, Logging &resource)
{
	std::map<std::uint64_t, Block> blocks;
	std::string line, field[6];

	std::getline(log, line); // names of the columns
	while (std::getline(log, line)) {
		std::istringstream fields(line);

		for (auto &one : field)
			std::getline(fields, one, ',');
		const auto size = std::strtoull(field[4].c_str(), nullptr, 10);
		const auto stream = stream_of(hex(field[5]));
		const auto at = hex(field[3]);

		try {
			if (field[2] == "free" && blocks.count(at)) {
				resource.deallocate(stream, blocks[at].address,
						    blocks[at].size);
				blocks.erase(at);
			} else if (field[2] != "free") {
				blocks[at] = { resource.allocate(stream, size),
					       size };
			}
		} catch (const std::bad_alloc &) {
			// RMM's log has it.
		}
	}
	// A log need not end with all of it freed; nor does this one.
	std::_Exit((resource.flush(), 0));
}

} // namespace

int main(int argc, char **argv)
{
	const auto name = [&](const char *kind) {
		return argc == 4 && !std::strcmp(kind, argv[1]);
	};
	const auto *kind = std::find_if(std::begin(kind_names),
					std::end(kind_names), name);

	if (kind == std::end(kind_names)) {
		std::fputs("usage: rmm-replay pool|grow|arena|binning|async LOG "
			   "NEW_LOG\n",
			   stderr);
		return 2;
	}
	std::ifstream log(argv[2]);
	if (!log) {
		std::fprintf(stderr, "rmm-replay: there is no %s\n", argv[2]);
		return 1;
	}
	Resource resource(static_cast<Kind>(kind - kind_names));
	Logging logging(resource.top, argv[3]);
	replay(log, logging);
}
