import { describe, expect, test } from 'vitest';
import { cloudEventHeaders } from '../../../src/screening/cloud-event.ts';

const event = { id: 'e-1', type: 'fraud.screening.score.v1', source: '/fraud/default', timeMs: 1_772_357_400_123 };

describe('headers of a CloudEvent', () => {
  test('name the attributes of the binary mode and the encoding of the value', () => {
    expect(cloudEventHeaders(event)).toEqual({
      ce_specversion: '1.0',
      ce_id: 'e-1',
      ce_type: 'fraud.screening.score.v1',
      ce_source: '/fraud/default',
      ce_time: '2026-03-01T09:30:00.123Z',
      'content-type': 'application/avro',
    });
  });

  test('say which trace the record belongs to', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect(cloudEventHeaders({ ...event, trace: { traceparent, tracestate: 'a=1' } })).toMatchObject({
      traceparent,
      tracestate: 'a=1',
    });
    expect(Object.keys(cloudEventHeaders({ ...event, trace: { traceparent, tracestate: null } }))).not.toContain(
      'tracestate',
    );
  });

  test('say nothing of a trace where there is none', () => {
    for (const without of [event, { ...event, trace: null }])
      expect(Object.keys(cloudEventHeaders(without)).join()).not.toContain('trace');
  });
});
