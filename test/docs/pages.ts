import { optionTable } from '../../src/config/print.ts';
import { type EventName } from '../../src/kernel/emit.ts';
import { FAULTS } from '../../src/kernel/fault.ts';
import { HOLDS, LETTERS, SKIPS } from '../../src/kernel/outcome.ts';
import { EVENTS } from '../../src/telemetry/events.ts';
import { labelOf, METRIC_PREFIX } from '../../src/telemetry/metrics.ts';
import { STATE_METRICS } from '../../src/telemetry/state-metrics.ts';

const PRINTED =
  '<!-- Printed from the tables in the code; a test compares. Rewrite with: UPDATE_DOCS=1 npx vitest run test/docs -->';

function page(title: string, intro: string, ...parts: readonly string[]): string {
  return `${[`# ${title}`, PRINTED, intro, ...parts].join('\n\n')}\n`;
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
        'What Kubernetes sets for services (`KAFKA_PORT=tcp://…`) is ignored. `NODE_TLS_REJECT_UNAUTHORIZED=0` is refused. There is no TLS to Kafka and no SASL in this version: ',
        '`KAFKA_TLS` and `KAFKA_SASL_…` are refused rather than ignored.',
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
        'write the new one first and the old one behind it into the file of `WEBHOOK_SECRETS_FILE`, a line each; wait 4 s (with several processes: until each has logged `secret_reloaded`); change it at the service; ',
        'take the old one out once `webhook_verified_total{secret="older"}` no longer grows and the longest retry of a webhook is over (about 4.5 days).\n- **Service password**: ',
        'change it at the service, then in the file of `SERVICE_PASSWORD_FILE`. The session that is open goes on until its token is due. ',
        'If logins were refused meanwhile, the next one is made at once after the change, and records go on within seconds.\n- **Registry password**: change the file of `SCHEMA_REGISTRY_PASSWORD_FILE`; every request takes the newest.',
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

function eventsPage(): string {
  return page(
    'Events',
    'The log is one line of JSON an event: `level`, `time` (milliseconds since 1970), `event`, `account`, `version`, and the fields below, no others. No field holds a key, an id or a text from a record. A warning that repeats is written once a second, with `repeats`: how many were left out before it; metrics count them all. There is never a line per record. `error` is logged when data is lost or a human is needed, `warn` when something odd has mended itself.',
    table(
      ['event', 'level', 'means', 'fields', 'counted as'],
      EVENT_NAMES.map((name) => {
        const { level, means, counter, fields } = EVENTS[name];
        return [code(name), level, means, fieldsOf(fields), counter === null ? '' : code(METRIC_PREFIX + counter.name)];
      }),
    ),
  );
}

function labels(names: readonly string[]): string {
  return names.map((name) => code(labelOf(name))).join(', ');
}

function metricsOf(name: EventName): readonly (readonly string[])[] {
  const { counter, histogram, means } = EVENTS[name];
  const rows: string[][] = [];
  if (counter !== null) rows.push([code(METRIC_PREFIX + counter.name), 'counter', labels(counter.labels), means]);
  if (histogram !== undefined) {
    const what = `${means} Here: \`${histogram.field}\`${histogram.per === 1000 ? ' in seconds' : ''}.`;
    rows.push([code(METRIC_PREFIX + histogram.name), 'histogram', labels(histogram.labels), what]);
  }
  return rows;
}

function metricsPage(): string {
  const state = Object.entries(STATE_METRICS).map(([name, { type, labels: names, means }]) => [
    code(METRIC_PREFIX + name),
    type,
    labels(names),
    means,
  ]);
  const counted = EVENT_NAMES.flatMap(metricsOf);
  const own = [
    [code(`${METRIC_PREFIX}hold`), 'gauge', labels(['cause', 'scope']), 'Whether records wait for this cause now.'],
    [code(`${METRIC_PREFIX}build_info`), 'gauge', labels(['version']), 'The version that runs.'],
  ];
  const head = ['metric', 'type', 'labels', 'means'];
  return page(
    'Metrics',
    'Read `http://OPS_HOST:OPS_PORT/metrics` (Prometheus text format). Every label has few, known values. Alert first on `fraud_connector_oldest_uncommitted_age_seconds` and on `fraud_connector_hold`. `process_*` and `nodejs_*` are there too.',
    '## The state of the engine',
    table(head, [...state, ...own]),
    '## What has happened\n\nCounted from the events of docs/events.md.',
    table(head, counted),
  );
}

/** Pages of `docs/` that are printed from tables in the code, by file name. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'codes.md': codesPage,
  'configuration.md': configurationPage,
  'events.md': eventsPage,
  'metrics.md': metricsPage,
};
