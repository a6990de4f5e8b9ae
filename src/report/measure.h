/* The table of measures is gpupool/metrics.h's; this is its old name. */
#ifndef REPORT_MEASURE_H
#define REPORT_MEASURE_H

#include "gpupool/metrics.h"

#endif
