import { describe, expect, test } from 'vitest';
import { type Explanation, type ExplainedFlow, explainRecord } from '../../../src/app/explain.ts';
import { readMapping } from '../../../src/app/mapping.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { ManualClock } from '../../support/manual-clock.ts';

async function explain(flow: ExplainedFlow, value: unknown, env: Record<string, string> = {}): Promise<Explanation> {
  const { config } = loadConfig({ env, readFile: () => env['MAPPING_FILE'] ?? '', requires: 'MAPPING_' });
  const { mapping } = readMapping(config);
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  return await explainRecord(bytes, {
    config,
    mapping,
    flow,
    version: '1.2.3',
    clock: new ManualClock(),
    draw: () => 0,
  });
}

const TS = '2026-03-01T09:30:00Z';

describe('a record that would not be sent', () => {
  test.each<[ExplainedFlow, unknown, string, string | null]>([
    ['scoring', '{', 'undecodable', 'json'],
    ['scoring', {}, 'trans_id_missing', null],
    ['sync', { trans_id: 't', status: 'paid', ts: TS }, 'status_unknown', '/status'],
    ['sync', { trans_id: 't', status: 'declined', ts: TS }, 'decline_reason_missing', '/issuer_reason_code'],
  ])('of %s: %j is the letter %s', async (flow, value, code, detail) => {
    expect(await explain(flow, value)).toMatchObject({ outcome: 'dead_letter', why: { code, detail }, request: null });
  });

  test('is told by the rules of the connector, also by those that need a score', async () => {
    const env = { SYNC_CHARGEBACK_PROTECTION: 'true', SYNC_CARD_METHODS: 'card' };
    const update = { trans_id: 't', status: 'approved', ts: TS };
    expect(await explain('sync', update, env)).toMatchObject({ why: { code: 'acq_ref_id_missing' }, transId: 't' });
  });

  test('is told by the guard, without showing what it found', async () => {
    const explained = await explain('scoring', { trans_id: 't', cust_email: '4111 1111 1111 1111' });
    expect(explained).toMatchObject({ outcome: 'dead_letter', why: { code: 'card_data' }, fields: [] });
    expect(JSON.stringify(explained)).not.toContain('4111');
  });

  test('is told by its mapping', async () => {
    const mapping =
      'scoring:\n  trans_id: /id\n  ip: { from: /a, upper: true }\n  skip_when: { pointer: /t, in: [1] }\n';
    const env = { MAPPING_FILE: mapping };
    expect(await explain('scoring', { id: 't', a: 5 }, env)).toMatchObject({
      why: { code: 'mapping_refused', detail: 'ip' },
    });
    expect(await explain('scoring', { t: 1 }, env)).toMatchObject({ outcome: 'skip', why: { code: 'skip_when' } });
  });

  test('is not guessed at where it is Avro', async () => {
    const framed = Buffer.from([0, 0, 0, 0, 1, 2]);
    expect(await explain('scoring', framed)).toMatchObject({ outcome: 'unreadable', request: null });
  });
});

describe('a record that would be sent', () => {
  test('is shown with its request, byte for byte, and without a token', async () => {
    const body = '{ "trans_id":"t", "trans_amt":1.10 }';
    const env = { SERVICE_BASE_URL: 'https://service.example/base/' };
    expect(await explain('scoring', body, env)).toMatchObject({
      outcome: 'send',
      transId: 't',
      findings: [],
      request: {
        method: 'POST',
        url: 'https://service.example/base/api/v2/transaction',
        headers: { authorization: 'SessionToken (not shown)', 'user-agent': 'fraud-screening-connector/1.2.3' },
        body,
      },
    });
  });

  test('is shown with what the service may find wrong', async () => {
    const { findings } = await explain('scoring', { trans_id: 't', bill_ad_ctry: 'DEU', colour: 'red' });
    expect(findings).toEqual([
      expect.stringMatching(/^bill_ad_ctry: Invalid country/),
      expect.stringMatching(/^colour: Unknown datapoint/),
    ]);
  });

  test('is shown with what is left out of an update, and what is odd about it', async () => {
    const update = { trans_id: 't', status: 'approved', ts: TS, issuer_decline_reason: 'x', shop: 7 };
    const { findings, request } = await explain('sync', update);
    expect(findings).toEqual([
      expect.stringContaining('issuer_decline_reason: left out'),
      'note: approved_without_acq_ref_id',
      expect.stringContaining('shop: left out'),
    ]);
    expect(request).toMatchObject({ method: 'PATCH', body: `{"t":{"status":"approved","ts":"${TS}"}}` });
  });

  test('may be nested as deep as it likes', async () => {
    const body = `{"trans_id":"t","cust_id":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    expect(await explain('scoring', body)).toMatchObject({ outcome: 'send', fields: [], request: { body } });
  });
});

describe('the headers of a payment of its own', () => {
  const payment = { trans_id: 't', ip: '198.51.100.7' };

  test('are shown where they are turned on, the one that depends on the place in the log without its value', async () => {
    const env = { SERVICE_FORWARD_IP: 'true', SERVICE_IDEMPOTENCY_HEADER: 'Idempotency-Key' };
    const { request } = await explain('scoring', payment, env);
    expect(request?.headers).toMatchObject({
      'x-forwarded-for': '198.51.100.7',
      'Idempotency-Key': "(SHA-256 of the record's place in the log and its trans_id)",
    });
  });

  test('are none where they are off', async () => {
    const { request } = await explain('scoring', payment);
    expect(Object.keys(request?.headers ?? {})).toEqual(['authorization', 'content-type', 'accept', 'user-agent']);
  });
});
