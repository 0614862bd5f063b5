import { optionTable } from '../../src/config/print.ts';
import { type EventName } from '../../src/kernel/emit.ts';
import { FAULTS } from '../../src/kernel/fault.ts';
import { HOLDS, LETTERS, SKIPS } from '../../src/kernel/outcome.ts';
import { METRIC_GROUPS, type NamedMetric } from '../../src/telemetry/catalogue.ts';
import { EVENTS } from '../../src/telemetry/events.ts';
import { LABEL_VALUES } from '../../src/telemetry/label-values.ts';
import { METRIC_PREFIX } from '../../src/telemetry/metrics.ts';
import { accessParts } from './kafka-access-page.ts';

const PRINTED =
  '<!-- Printed from the tables in the code; a test compares. Rewrite with: UPDATE_DOCS=1 npx vitest run test/docs -->';

function page(title: string, ...parts: readonly string[]): string {
  return `${[`# ${title}`, PRINTED, ...parts].join('\n\n')}\n`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

type Rows = Readonly<Record<string, { readonly means: string; readonly mend: string }>>;

function codes(rows: Rows): string {
  return table(
    ['code', 'means', 'what to do'],
    Object.entries(rows).map(([name, { means, mend }]) => [code(name), means, mend]),
  );
}

function codesPage(): string {
  return page(
    'Codes',
    'Look a code up that you saw in a dead letter, a log line, a metric, `/status` or on standard error.',
    '## Dead letters\n\nThe header `dlq.reason` of a record in a dead-letter topic, and `reason` of `records_total{outcome="dlq"}`. A record becomes a dead letter when it is itself at fault; an outage never makes one.',
    codes(LETTERS),
    '## Skips\n\nA record that was passed over by a rule, without a call: `reason` of `records_total{outcome="skipped"}`.',
    codes(SKIPS),
    '## Holds\n\nWhy records wait: `cause` of the event `hold_started`, of the metrics `hold` and `waiting_records`, and on `/status`. Nothing is lost in a hold, and it ends by itself once its cause is gone.',
    codes(HOLDS),
    '## Faults\n\nWhat ends the process or a command: the code before the message, with the exit code.',
    table(
      ['code', 'exit', 'means', 'what to do'],
      Object.entries(FAULTS).map(([name, { exit, means, mend }]) => [code(name), String(exit), means, mend]),
    ),
  );
}

function configurationPage(): string {
  return page(
    'Configuration',
    [
      'Set environment variables, or write them into a file and name it with `--env-file`; a flag of the command line wins over the environment, the environment over the file, and a default stands behind them. All problems are reported at once, and the process then ends with exit code 2 before it has opened anything.',
      '```\nnpx fraud-connector config init .env         # every option, commented; never overwrites a file\nnpx fraud-connector config print --env-file .env   # what is in effect, and where each value comes from\nnpx fraud-connector check --env-file .env    # is everything there that run needs? (check.md)\nnpx fraud-connector run --env-file .env\n```',
      '![What run says of a configuration with three mistakes: every problem at once, each with what is accepted](pictures/configuration-errors.svg)',
      [
        '`config print` shows a line an option: its name, where its value comes from (`default`, `environment`, `env-file`, `file` for the content of a file that an option names, `flag`, `wrong`), the value; ',
        'of secrets only that they are set. Where something is wrong it prints what could be read all the same, the problems go to standard error, and the exit code is 2. `--json` prints one object: `options`, `problems`, `warnings`. ',
        '`config docs` prints the table below.',
      ].join(''),
      [
        'An empty variable is the same as none, where the table says nothing else. A variable that begins like one of these and is none of them is an error if it looks misspelt, or if `CONFIG_STRICT=true`, else a warning. ',
        'What Kubernetes sets for services (`KAFKA_PORT=tcp://…`) is ignored. `NODE_TLS_REJECT_UNAUTHORIZED` is refused. ',
        'What would protect data and is not there, such as `KAFKA_TLS_KEY_PASSWORD`, is refused rather than ignored. TLS and logins towards Kafka: [kafka-security.md](kafka-security.md).',
      ].join(''),
      [
        '## Files of variables\n\n`--env-file FILE` stands before or after the command. One `NAME=value` a line, perhaps with `export ` before it; empty lines and lines that begin with `#` do not count. No space may stand before the `=`. ',
        'Without quotes a value ends at a space with `#` behind it, and spaces around it are no part of it. Single quotes keep everything as it is. Double quotes know `\\\\`, `\\"`, `\\$`, `\\n`, `\\r`, `\\t`; ',
        'any other backslash in them is an error. A value ends on its line. Nothing is expanded: a `$` is a `$`, and where a shell would replace something there is a warning. A name that is given twice is an error. ',
        'Problems tell the number of the line, never the value. Paths in the file are relative to the folder that the command is started in.',
      ].join(''),
      [
        '## Secrets and their rotation\n\nA secret is given by itself or by a file (`<NAME>_FILE`, for mounted secrets; a newline at its end is no part of it), not both. ',
        'A secret that the environment gives in one form wins over the file of variables in either form.\n\nThese files are read again every 3 s, so that a secret changes without a restart: ',
        'a change that stays for half a second is in use within 4 s (event `secret_reloaded`). A file that is gone, empty, larger than 64 KiB, or not what the option accepts changes nothing: ',
        'the last good secret stays in use (event `secret_reload_failed`, told once; alert on it). Only files are read again: a secret in a variable needs a restart, as every other option does.\n\n- **Webhook secret**: ',
        'in the file of `WEBHOOK_SECRETS_FILE`.\n  1. Write the new one first and the old one behind it, a line each.\n',
        '  2. Wait 4 s; with several processes, until each has logged `secret_reloaded`.\n  3. Change it at the service.\n',
        '  4. Take the old one out once `webhook_verified_total{secret="older"}` stands still and the longest retry of a webhook is over (about 4.5 days).\n- **Service password**: ',
        'change it at the service, then in the file of `SERVICE_PASSWORD_FILE`. The session that is open goes on until its token is due. ',
        'If logins were refused meanwhile, the next one is made at once after the change, and records go on within seconds.\n- **Registry password**: change the file of `SCHEMA_REGISTRY_PASSWORD_FILE`; every request takes the newest.\n- **Password, client secret and certificates for Kafka**: [kafka-security.md](kafka-security.md#rotation-without-restart-or-loss).',
      ].join(''),
      '## The options',
    ].join('\n\n'),
    optionTable().trimEnd(),
  );
}

const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

function fieldsOf(fieldsByName: Readonly<Record<string, string>>): string {
  const fields = Object.entries(fieldsByName);
  return fields.map(([field, means]) => `${code(field)}: ${means}`).join('; ');
}

function levelsOf(name: EventName): string {
  const { level, levels } = EVENTS[name];
  const own = Object.entries(levels?.of ?? {});
  const grouped = [...Map.groupBy(own, ([, of]) => of)].map(
    ([of, values]) => `${values.map(([value]) => code(value)).join(', ')}: ${of}`,
  );
  return [level, ...grouped].join('; ');
}

function eventsPage(): string {
  return page(
    'Events',
    'The log is one line of JSON an event: `level`, `time` (milliseconds since 1970), `event`, `account`, `version`, and the fields below, no others. No field holds a key, an id or a text from a record. A warning that repeats, and a defect (`flow_broken`), is written once a second, with `repeats`: how many were left out before it; metrics count them all. There is never a line per record. `fatal`: the process ends; `error`: data is lost, or somebody has to do something; `warn`: something is odd and mends itself; `info`: an answer to an operator; `debug`: what happens many times a second (`LOG_LEVEL`). Some events have another level for some values of a field.',
    table(
      ['event', 'level', 'means', 'fields', 'counted as'],
      EVENT_NAMES.map((name) => {
        const { means, counter, fields } = EVENTS[name];
        const counted = counter === null ? '' : code(METRIC_PREFIX + counter.name);
        return [code(name), levelsOf(name), means, fieldsOf(fields), counted];
      }),
    ),
  );
}

function metricTable(rows: readonly NamedMetric[]): string {
  return table(
    ['metric', 'type', 'labels', 'means', 'a rise means; what to do'],
    rows.map(({ name, type, labels, means, rise }) => [code(name), type, labels.map(code).join(', '), means, rise]),
  );
}

function labelTable(): string {
  return table(
    ['label', 'holds'],
    Object.entries(LABEL_VALUES).map(([name, values]) => {
      const [metric, label] = name.split('.');
      const where = label === undefined ? code(name) : `${code(label)} of ${code(metric ?? '')}`;
      return [
        where,
        'like' in values ? values.what : values.map((value) => (value === '' ? 'empty' : code(value))).join(', '),
      ];
    }),
  );
}

function metricsPage(): string {
  return page(
    'Metrics',
    [
      'Read `http://OPS_HOST:OPS_PORT/metrics` (Prometheus text format), every 15 s or more seldom. Alert first on `fraud_connector_oldest_uncommitted_age_seconds` and on `fraud_connector_hold`; docs/when-things-go-wrong.md has what else can happen.',
      'Names begin with `fraud_connector_` where OpenTelemetry has none of its own (`messaging_`, `http_`). All units are base units: seconds, bytes, shares from 0 to 1. Histograms have `_bucket`, `_sum` and `_count`. Every label has few, known values (below); no label holds a key, an id or a text of a record. Everything is counted from the start of the process on; nothing is kept over a restart.',
      'What they cost: docs/performance.md. What they do not do: nobody tells the lag of a group that has no member; a process that hangs answers nothing, so alert on `up` and on the absence of `fraud_connector_build_info`, too.',
    ].join('\n\n'),
    ...METRIC_GROUPS.flatMap(({ title, intro, metrics }) => [
      `## ${title}${intro === null ? '' : `\n\n${intro}`}`,
      metricTable(metrics),
    ]),
    '## Labels',
    labelTable(),
  );
}

/** Pages of `docs/` that are printed from tables in the code, by file name. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'codes.md': codesPage,
  'configuration.md': configurationPage,
  'events.md': eventsPage,
  'kafka-access.md': () => page('Kafka access', ...accessParts()),
  'metrics.md': metricsPage,
};
