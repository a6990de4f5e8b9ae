# SPDX-License-Identifier: MIT
# A setting: its member, a row, the line that it decides, the page that is made
# of the table, a test.
# shellcheck shell=sh disable=SC2154

add_setting() {
	insert include/gpupool/knob.h '^	bool throw_on_oom;' << 'END'
	bool whole_pages;
END
	insert src/allocator/knobs.c '^	{ .name = "roundup_power2_divisions",' << 'END'
	{ .name = "round_to_pages",
	  .flag = "round-to-pages",
	  .id = GP_KNOB_PLAIN,
	  .type = GP_KNOB_BOOL,
	  .member = MEMBER(whole_pages),
	  .since = 15,
	  .range = "True or False",
	  .by_default = "False",
	  .sentence = "Requests are rounded up to pages of 4 KiB.",
	  .reader = GP_KNOB_OF_CUDA },
END
	insert src/allocator/settings.c '^	divisions = settings->divisions' << 'END'
	if (settings->whole_pages)
		return (size + 4095) & ~UINT64_C(4095);
END
}

say_setting() {
	page settings.7
	cat > tests/cli/round_to_pages.test << 'END'
# A setting by its flag, by PyTorch's name and in a sweep.
$ gpupool replay -q $traces/tiny/small-alloc.json --torch 2.15 --round-to-pages --format json | grep -E '"(peak_allocated|settings)'
$ gpupool sweep -q $traces/tiny/small-alloc.json --torch 2.15 --set round_to_pages=False,True --format csv | cut -d, -f 1-3
$ gpupool replay $traces/tiny/small-alloc.json --torch 2.14 --alloc-conf round_to_pages:True 2>&1 | grep -c Unrecognized
END
	answers round_to_pages
}

try_setting() {
	for said in '"settings": {"round_to_pages": true}' \
		'"peak_allocated_bytes": 4096' '1,0,"round_to_pages:False"' \
		'^| 1$'; do
		grep -q "$said" tests/cli/round_to_pages.test ||
			echo "it does not say $said"
	done
}
