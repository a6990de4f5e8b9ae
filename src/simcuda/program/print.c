/* SPDX-License-Identifier: MIT */
/* A program that only allocates spent a tenth of its time in vsnprintf. */
#include "simcuda/program/print.h"

#include <stdint.h>
#include <string.h>

struct printer {
	char *at, *end;
};

static void put(struct printer *p, const char *text, size_t length)
{
	if (length > (size_t)(p->end - p->at)) {
		p->at = p->end;
		return;
	}
	memcpy(p->at, text, length);
	p->at += length;
}

static void put_number(struct printer *p, uint64_t number)
{
	char digits[20];
	size_t first = sizeof(digits);

	do
		digits[--first] = (char)('0' + number % 10);
	while (number /= 10);
	put(p, digits + first, sizeof(digits) - first);
}

static void put_signed(struct printer *p, int number)
{
	if (number < 0)
		put(p, "-", 1);
	put_number(p, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

size_t print_fast(char *to, size_t room, const char *format, va_list arguments)
{
	struct printer p = { to, to + room };

	for (;;) {
		size_t plain = strcspn(format, "%");
		const char *text;
		char letter;

		put(&p, format, plain);
		format += plain;
		if (!*format)
			break;
		format++;
		switch (*format++) {
		case 's':
			text = va_arg(arguments, const char *);
			put(&p, text, strlen(text));
			break;
		case 'c':
			letter = (char)va_arg(arguments, int);
			put(&p, &letter, 1);
			break;
		case 'd': put_signed(&p, va_arg(arguments, int)); break;
		case 'u': put_number(&p, va_arg(arguments, unsigned)); break;
		case 'l':
			if (*format++ != 'u')
				return 0;
			put_number(&p, va_arg(arguments, unsigned long));
			break;
		case '%': put(&p, "%", 1); break;
		default: return 0;
		}
	}
	return p.at == p.end ? 0 : (size_t)(p.at - to);
}
