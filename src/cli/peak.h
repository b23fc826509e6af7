/* peak.h - what this machine can do at best, measured in some milliseconds. */
#ifndef HG_CLI_PEAK_H
#define HG_CLI_PEAK_H

typedef struct hg_cli_peak {
    double flops; /* per second: fused multiply-add of float32 in registers */
    double bytes; /* per second: reading memory that is in no cache */
} hg_cli_peak;

/* All threads together; 0 where it could not be measured. */
hg_cli_peak hg_cli_peak_measure(int threads);

/* The first of them alone. */
double hg_cli_peak_flops(int threads);

#endif
