import { createReviewsBridge } from '../../src/reviews/bridge.ts';
import { startWebhookServer } from '../../src/edges/http-server/webhooks.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { type WriteOutcome } from '../../src/engine/ports.ts';
import { type Order, type ReceiverOptions, type Report } from './receiver.ts';
import { UNWRITABLE } from './requests.ts';
import { hmacOf, PATH, SIGNATURE, TIMESTAMP } from './wire.ts';

/** The real receiver of webhooks with a writer that only counts, in a process of its own; its parent asks by message. */
const options = JSON.parse(process.argv[2] ?? '{}') as ReceiverOptions;

/** There by `--expose-gc`. */
const gc = globalThis.gc ?? (() => {});

let written: string[] = [];
const results: Record<string, number> = {};
const statuses: Record<string, number> = {};
let warnings: string[] = [];
let broken: string[] = [];

process.on('warning', ({ name }) => warnings.push(name));
// Its parent is gone.
process.once('disconnect', () => process.exit(0));

const write = async (id: string): Promise<boolean> => {
  if (options.ackMs > 0) await new Promise((resolve) => setTimeout(resolve, options.ackMs));
  else await new Promise(setImmediate);
  if (id.startsWith(UNWRITABLE)) return false;
  written.push(id);
  return true;
};
const WRITTEN: WriteOutcome = { do: 'written', partition: 0, offset: 1n };

const bridge = createReviewsBridge({
  secrets: () => options.secrets,
  writer: {
    write: async ({ key }) => ((await write(String(key))) ? WRITTEN : { do: 'unavailable', error: 'Error' }),
  },
  encoder: { encode: (value) => Buffer.from(JSON.stringify(value)) },
  topic: 'fraud.reviews',
  account: 'fuzz',
  source: 'fuzz',
  park: async ({ body }) => {
    const id = /"trans_id": *"([^"]+)"/.exec(body.toString('utf8'))?.[1] ?? `parked ${body.toString('base64')}`;
    return (await write(id)) ? 'written' : 'dead_letter_topic';
  },
  // Standing still for what is signed, so that a seed makes the same bytes every time.
  clock: { ...systemClock, nowMs: () => options.nowMs },
  emit: (name, fields) => {
    if (name === 'flow_broken' && 'error' in fields) broken.push(fields.error);
    if (name !== 'webhook' || !('result' in fields && 'afterMs' in fields)) return;
    results[fields.result] = (results[fields.result] ?? 0) + 1;
    statuses[fields.status] = (statuses[fields.status] ?? 0) + 1;
  },
  options: {
    signatureForms: ['hex', 'base64'],
    timestampForms: ['rfc3339', 'unix_s', 'unix_ms'],
    toleranceSeconds: 300,
    publishTimeoutMs: 3000,
  },
});

const server = await startWebhookServer(
  {
    host: '127.0.0.1',
    port: 0,
    path: PATH,
    maxBytes: options.maxBytes,
    requestTimeoutMs: options.requestTimeoutMs,
    ...(options.maxConnections === undefined ? {} : { maxConnections: options.maxConnections }),
  },
  bridge,
);

/** As many events as are remembered: from then on the heap has no reason to grow. */
async function fillMemory(): Promise<void> {
  const [secret = ''] = options.secrets;
  const timestamp = String(options.nowMs);
  const data = { frg_trans_id: 'f', decision: 'good', reviewed_at: '2025-12-31T23:59:58Z' };
  for (let lot = 0; lot < 100; lot += 1) {
    const handled = Array.from({ length: 1000 }, async (_, index) => {
      const transId = `w-${String(lot)}-${String(index)}`;
      const body = Buffer.from(JSON.stringify({ type: 'txn_manual_review', data: { ...data, trans_id: transId } }));
      const rawHeaders = [SIGNATURE, hmacOf(secret, timestamp, body).toString('hex'), TIMESTAMP, timestamp];
      await bridge.handle({ rawHeaders, body });
    });
    await Promise.all(handled);
  }
  written = [];
  for (const counts of [results, statuses]) for (const name of Object.keys(counts)) counts[name] = 0;
}

function report(): Report {
  gc();
  gc();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  const { heapUsed, external, rss } = process.memoryUsage();
  const told = { written, warnings, broken };
  [written, warnings, broken] = [[], [], []];
  return { ...told, results, statuses, sockets, heapBytes: heapUsed + external, rssBytes: rss };
}

process.on('message', (order: Order) => {
  if (order === 'report') process.send?.({ report: report() });
  else
    void server.close().then(() => {
      process.send?.({ closed: true }, () => process.disconnect?.());
    });
});
if (options.fillMemory) await fillMemory();
process.send?.({ url: server.url });
