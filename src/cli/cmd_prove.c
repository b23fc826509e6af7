/* cmd_prove.c - hologram prove: derives every table and bound of a file again. */
#include "cli/commands.h"
#include "io/json.h"

#include <inttypes.h>

typedef struct prove_args {
    bool json;
} prove_args;

typedef struct prove_output {
    const hg_cli *cli;
    hg_io_json json;
    bool is_json;
} prove_output;

static void prove_visit(void *user, const holo_proof *proof)
{
    prove_output *o = user;
    char name[256], claim[256], why[512];
    if (o->is_json) {
        hg_io_json_object(&o->json);
        hg_io_json_key(&o->json, "name");
        hg_io_json_text(&o->json, proof->name);
        hg_io_json_key(&o->json, "claim");
        hg_io_json_text(&o->json, proof->claim);
        hg_io_json_key(&o->json, "proved");
        hg_io_json_bool(&o->json, proof->why == NULL);
        hg_io_json_key(&o->json, "why");
        hg_io_json_text(&o->json, proof->why);
        hg_io_json_close(&o->json, '}');
        return;
    }
    hg_cli_clean(proof->name, name, sizeof name);
    hg_cli_clean(proof->claim, claim, sizeof claim);
    if (proof->why != NULL)
        printf("FAILED %s: %s: %s\n", name, claim, hg_cli_clean(proof->why, why, sizeof why));
    else if (!o->cli->quiet)
        printf("proved %s: %s\n", name, claim);
}

static int prove_run(const hg_cli *cli, const void *args)
{
    const prove_args *a = args;
    prove_output o = {.cli = cli, .json = {.out = stdout}, .is_json = a->json};
    holo_prove_report report = {0};
    holo_error error = {0};
    if (a->json) {
        hg_io_json_object(&o.json);
        hg_io_json_key(&o.json, "certificates");
        hg_io_json_array(&o.json);
    }
    if (holo_prove_file(cli->operand[0], prove_visit, &o, &report, &error) != HOLO_OK)
        return hg_cli_fail(cli, &error);
    if (a->json) {
        hg_io_json_close(&o.json, ']');
        hg_io_json_key(&o.json, "proved");
        hg_io_json_int(&o.json, (int64_t)report.proved);
        hg_io_json_key(&o.json, "failed");
        hg_io_json_int(&o.json, (int64_t)report.failed);
        hg_io_json_close(&o.json, '}');
        printf("\n");
    } else {
        printf("%" PRIu64 " proved, %" PRIu64 " failed\n", report.proved, report.failed);
    }
    return report.failed == 0 ? HG_CLI_OK : HG_CLI_FAULT;
}

/* clang-format off */
static const hg_cli_option prove_options[] = {
    {"json", 0, HG_CLI_FLAG, NULL, "print one JSON object", offsetof(prove_args, json)},
    {0},
};
/* clang-format on */

const hg_cli_command hg_cmd_prove = {
    .name = "prove",
    .operands = "FILE.holo",
    .least = 1,
    .most = 1,
    .brief = "Derive every table and bound of a file again, and compare.",
    .details = "A .holo file carries a certificate for every table: the chain of operators that it "
               "stands for, as text. Each is evaluated again for every code and compared with the "
               "bytes of the file; so are the bounds of integer products. Exit code 1 means that "
               "something does not hold.",
    .example = "hologram prove model.holo",
    .files = "holo",
    .options = prove_options,
    .args_size = sizeof(prove_args),
    .run = prove_run,
};
