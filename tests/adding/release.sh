# SPDX-License-Identifier: MIT
# A release of PyTorch: its number, and a row for each thing that it does
# otherwise, which the code asks for by name.
# shellcheck shell=sh disable=SC2154

release=$(sed -n 's/^#define GP_RELEASE_LAST[^0-9]*//p' \
	"$root/include/gpupool/knob.h")
release=$((release + 1))

add_release() {
	sed "s/^\(#define GP_RELEASE_LAST.*[^0-9]\)[0-9]*$/\1$release/" \
		include/gpupool/knob.h > "$work/new"
	add include/gpupool/knob.h < "$work/new"
	insert src/allocator/release.h '^	GP_CHANGE_REJECTION,' << 'END'
	GP_CHANGE_OF_TEST,
END
	insert src/allocator/release.c '^	.GP_CHANGE_REJECTION. = .$' << END
	[GP_CHANGE_OF_TEST] = {
		.since = $release,
		.sentence = "it is one more",
		.source = "run",
	},
END
}

say_release() {
	page settings.7
	cat > tests/cli/newest.test << END
# What the newest release does otherwise.
\$ gpupool help releases | grep '^  2[.]$release '
END
	answers newest
}

try_release() {
	grep -q 'it is one more \[run\]' tests/cli/newest.test ||
		cat tests/cli/newest.test
	for name in "2.$release" "2.$release.0+cu130" latest; do
		build/gpupool replay -q traces/tiny/small-alloc.json \
			--torch "$name" --format json |
			grep -q "\"torch\": \"2.$release\"" ||
			echo "--torch $name is not understood"
	done
	build/gpupool replay traces/tiny/small-alloc.json \
		--torch "2.$((release + 1))" 2>&1 |
		grep -q "2.0 to 2.$release" || echo "2.$((release + 1)) is taken"
}
