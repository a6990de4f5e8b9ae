/* SPDX-License-Identifier: MIT */
/*
 * man/gpupool-settings.7, made from the table of settings:
 *
 *	gpupool help settings.7 > man/gpupool-settings.7
 */
#include "commands/settings_page.h"

#include "commands/mdoc.h"
#include "gpupool/knob.h"

static const char head[] =
	".\\\" Made by gpupool help settings.7; change the table instead.\n"
	".Dd November 21, 2026\n"
	".Dt GPUPOOL-SETTINGS 7\n"
	".Os\n"
	".Sh NAME\n"
	".Nm gpupool-settings\n"
	".Nd settings of PyTorch's CUDA caching allocator\n"
	".Sh DESCRIPTION\n"
	"Settings are written as the environment variable\n"
	".Ev PYTORCH_CUDA_ALLOC_CONF\n"
	"has them:\n"
	".Pp\n"
	".Dl key:value,key:value\n"
	".Pp\n"
	".Xr gpupool-replay 1\n"
	"takes such a string with\n"
	".Fl -alloc-conf ;\n"
	"settings that decide something have a flag of their own as well.\n"
	"A string is accepted and refused exactly as the chosen release of "
	"PyTorch\n"
	"accepts and refuses it, in its words:\n"
	".Bl -bullet\n"
	".It\n"
	"Up to 2.9, separators are insisted on and only spaces are dropped.\n"
	"From 2.10 on all white space is dropped and separators are counted, "
	"not\n"
	"looked at: a:1:b:2 is a:1,b:2.\n"
	".It\n"
	"A comma at the end is accepted; one too many is a key that nobody "
	"knows.\n"
	".It\n"
	"Of a number the leading digits count: 64MB is 64, 128.9 is 128.\n"
	"Up to 2.9 it must fit an int; \\-1 is the largest size there is.\n"
	".It\n"
	"True and False are written like this.\n"
	".El\n"
	".Pp\n"
	"At run time\n"
	".Pq Fn torch.cuda.memory._set_allocator_settings ,\n"
	"max_split_size_mb, garbage_collection_threshold and\n"
	"roundup_power2_divisions go back to their defaults unless they are "
	"named, and\n"
	"from 2.11 on max_non_split_rounding_mb to the large segment size.\n"
	"The others keep their values.\n"
	"A string that is refused then has been read up to the mistake.\n"
	".Ss Settings\n"
	".Bl -tag -width Ds\n";

static const char tail[] = ".El\n"
			   ".Sh SEE ALSO\n"
			   ".Xr gpupool 1 ,\n"
			   ".Xr gpupool-replay 1\n";

static void print_knob(const struct gp_knob *knob, FILE *out)
{
	fprintf(out, ".It Cm %s\n", knob->name);
	gp_mdoc_words(knob->sentence, out);
	fputs(".br\nTakes: ", out);
	gp_mdoc_words(knob->range, out);
	fputs(".br\nDefault: ", out);
	gp_mdoc_words(knob->by_default, out);
	fprintf(out, ".br\nSince 2.%u", knob->since);
	if (knob->flag)
		fprintf(out, "; flag:\n.Fl -%s", knob->flag);
	putc('\n', out);
}

void gp_settings_page(FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	fputs(head, out);
	for (size_t i = 0; i < count; i++)
		print_knob(&knobs[i], out);
	fputs(tail, out);
}
