import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { drawDashboard } from './dashboard-svg.ts';
import { Prometheus } from './prometheus.ts';
import { type Recording, recordPanels } from './record.ts';
import { letBeIll, startDemo } from './story.ts';

/*
 * Draws the dashboard over a demo, with each panel's own expressions, asked of a real Prometheus:
 *   node test/pictures/main.ts --story load --out docs/pictures/dashboard-load.svg
 *   node test/pictures/main.ts --story outage --out docs/pictures/dashboard-outage.svg
 * --keep FILE keeps what was recorded, --from FILE draws it again. Exit code 1: a panel that has to have lines has none.
 */

const EVERY_SECONDS = 2;
const STEP_SECONDS = 3;
/** Four readings, as Grafana takes it. */
const RATE_SECONDS = 4 * EVERY_SECONDS;
/** The demo goes on a little longer than what is shown. */
const SLACK_SECONDS = 20;

const { values } = parseArgs({
  options: {
    story: { type: 'string', default: 'load' },
    seconds: { type: 'string', default: '180' },
    rate: { type: 'string', default: '100' },
    out: { type: 'string' },
    keep: { type: 'string' },
    from: { type: 'string' },
  },
});

async function record(): Promise<Recording> {
  const [seconds, rate] = [Number(values.seconds), Number(values.rate)];
  const outage = values.story === 'outage';
  const demo = await startDemo(rate, seconds + SLACK_SECONDS);
  let prometheus: Prometheus | null = null;
  try {
    prometheus = await Prometheus.start(new URL(demo.opsUrl).host, EVERY_SECONDS);
    const fromSeconds = Math.round(Date.now() / 1000);
    const ill = outage
      ? await letBeIll(demo.serviceUrl, {
          wellSeconds: seconds / 4,
          illSeconds: seconds / 4,
          againSeconds: seconds / 2,
        })
      : null;
    if (!outage) await pause(seconds * 1000);
    const range = { fromSeconds, toSeconds: fromSeconds + seconds, stepSeconds: STEP_SECONDS };
    const title = outage
      ? `The service answers 503 for ${String(seconds / 4)} s, in the midst of ${String(rate)} payments a second`
      : `${String(rate)} payments a second`;
    return { title, range, ill, panels: await recordPanels(prometheus, range, RATE_SECONDS) };
  } finally {
    await prometheus?.stop();
    await demo.end();
  }
}

/** Panels that have no lines where nothing of the kind has happened, and those that have some only while the service is ill. */
const MAY_BE_EMPTY = ['Letters without their record', 'Dead letters', 'The service asks for a pause'];
const ONLY_WHEN_ILL = ['Holds by cause', 'Records that wait'];

const recording =
  values.from === undefined ? await record() : (JSON.parse(readFileSync(values.from, 'utf8')) as Recording);
if (values.keep !== undefined) writeFileSync(values.keep, JSON.stringify(recording));
if (values.out !== undefined) writeFileSync(values.out, drawDashboard(recording));
const allowed = new Set(recording.ill === null ? [...MAY_BE_EMPTY, ...ONLY_WHEN_ILL] : MAY_BE_EMPTY);
const empty = recording.panels.filter(
  ({ panel, lines }) => panel.type !== 'row' && lines.length === 0 && !allowed.has(panel.title),
);
for (const { panel } of empty) console.error(`no lines: ${panel.title}`);
process.exitCode = empty.length > 0 ? 1 : 0;
