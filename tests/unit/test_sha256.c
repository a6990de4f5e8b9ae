/* SPDX-License-Identifier: MIT */
/* SHA-256, by the examples of FIPS 180-4 and sha256sum. */
#include "base/sha256.h"

#include <string.h>

#include "suite.h"

static const struct {
	const char *text, *hash;
} rows[] = {
	{ "", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" },
	{ "abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	  "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=" },
};

START_TEST(test_known_texts)
{
	char text[GP_SHA256_TEXT];

	ck_assert_str_eq(
		gp_sha256_base64(rows[_i].text, strlen(rows[_i].text), text),
		rows[_i].hash);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_known_texts, 0 },
	};

	return suite_run("sha256", tests, COUNT_OF(tests));
}
