/* SPDX-License-Identifier: MIT */
/* CRC-32C: published values, and the two implementations agree. */
#include "base/crc32c.h"
#include "suite.h"

START_TEST(test_published_values)
{
	/* RFC 3720, appendix B.4, and the usual check value */
	unsigned char bytes[32];

	ck_assert_uint_eq(gp_crc32c(0, "123456789", 9), 0xe3069283);
	ck_assert_uint_eq(gp_crc32c_by_table(0, "123456789", 9), 0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	ck_assert_uint_eq(gp_crc32c(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	ck_assert_uint_eq(gp_crc32c(0, bytes, 32), 0x62a8ab43);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (unsigned char)i;
	ck_assert_uint_eq(gp_crc32c(0, bytes, 32), 0x46dd794e);
}
END_TEST

START_TEST(test_ways_and_parts_agree)
{
	unsigned char bytes[300];
	uint64_t state = 7;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)next_random(&state);
	for (size_t n = 0; n < sizeof(bytes); n++) {
		size_t from = next_random(&state) % (n + 1);
		uint32_t whole = gp_crc32c(0, bytes, n);

		ck_assert_uint_eq(gp_crc32c_by_table(0, bytes, n), whole);
		ck_assert_uint_eq(gp_crc32c(gp_crc32c(0, bytes, from),
					    bytes + from, n - from),
				  whole);
		ck_assert_uint_eq(
			gp_crc32c_by_table(gp_crc32c_by_table(0, bytes, from),
					   bytes + from, n - from),
			whole);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_published_values, 0 },
		{ test_ways_and_parts_agree, 0 },
	};

	return suite_run("crc32c", tests, COUNT_OF(tests));
}
