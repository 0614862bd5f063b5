import { describe, expect, test } from 'vitest';
import { ActivityLog, type ActivityStatus } from '../../../../src/sandbox/service/activity.ts';
import { viewActivity } from '../../../../src/sandbox/service/activity-view.ts';

const NOON = Date.UTC(2026, 2, 1, 12);
const DAY_MS = 86_400_000;
const target = { url: 'http://127.0.0.1:9/hook', secret: 'shown-secret' };

function logOf(...changes: readonly { status?: ActivityStatus; at?: number; type?: string; transId?: string }[]) {
  const log = new ActivityLog();
  for (const change of changes) {
    log.add({
      type: 'txn_manual_review',
      transId: 't-1',
      at: NOON,
      status: 'delivered',
      attempts: 1,
      httpStatus: 200,
      lastAttemptAt: NOON,
      nextAttemptAt: null,
      ...change,
    });
  }
  return log;
}

function view(log: ActivityLog, query = '', accept = ''): { status: number; text: string; type: string | undefined } {
  const request = { query: new URLSearchParams(query), accept };
  const { status, body, headers } = viewActivity(request, log, target);
  return { status, text: body.toString(), type: headers?.['content-type'] };
}

const page = (log: ActivityLog, query = '') => view(log, query, 'text/html,application/xhtml+xml');
const countOf = (text: string): number => (JSON.parse(text) as { events: unknown[] }).events.length;

describe('the activity log', () => {
  test.each(['status=done', 'from=yesterday', 'to=2026-02-30', 'from=2026-03-01T09:30:00'])('refuses %s', (query) => {
    const { status, text } = view(logOf(), query);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual({
      error_msg: expect.stringContaining(query.split('=')[0] ?? '') as unknown,
    });
    expect(page(logOf(), query)).toMatchObject({ status: 400, type: 'text/html; charset=utf-8' });
  });

  test('filters by status, type and date', () => {
    const log = logOf({}, { status: 'failed' }, { type: 'txn_new' }, { at: NOON + DAY_MS });
    expect(countOf(view(log).text)).toBe(4);
    expect(countOf(view(log, 'status=failed').text)).toBe(1);
    expect(countOf(view(log, 'type=txn_new').text)).toBe(1);
    expect(countOf(view(log, 'from=2026-03-02T00:00:00Z').text)).toBe(1);
    expect(countOf(view(log, 'to=2026-03-02T12:00:00Z').text)).toBe(3);
  });

  test('takes a day as its begin or its end, and empty fields as none', () => {
    const log = logOf({}, { at: NOON + DAY_MS });
    expect(countOf(view(log, 'from=2026-03-01&to=2026-03-01').text)).toBe(1);
    expect(countOf(view(log, 'status=&type=&from=&to=').text)).toBe(2);
  });
});

describe('the page', () => {
  test('is for who accepts HTML', () => {
    expect(view(logOf()).type).toBeUndefined();
    expect(page(logOf()).type).toBe('text/html; charset=utf-8');
  });

  test('shows each event, the newest first, the URL and the secret next to it', () => {
    const { text } = page(logOf({ transId: 't-older' }, { transId: 't-newer', status: 'not_sent' }));
    expect(text.indexOf('t-newer')).toBeLessThan(text.indexOf('t-older'));
    expect(text).toContain('not sent');
    expect(text).toContain('2026-03-01 12:00:00 UTC');
    expect(text).toMatch(/hook<\/code><\/dd>\s*<dt>Secret key<\/dt><dd><code>shown-secret/u);
  });

  test('has no script, escapes every text, and keeps what was asked for', () => {
    const evil = `"><script>alert('x')</script>&`;
    const log = logOf({ transId: evil, type: evil });
    const { text } = page(log, new URLSearchParams({ type: evil }).toString());
    expect(text).not.toContain('<script');
    expect(text.match(/&quot;&gt;&lt;script&gt;alert\(&#39;x&#39;\)&lt;\/script&gt;&amp;/gu)).toHaveLength(3);
    expect(page(log, 'status=failed').text).toContain('<option value="failed" selected>');
  });

  test('shows the newest 500 and says so', () => {
    const log = logOf(...Array.from({ length: 600 }, (_, index) => ({ transId: `t-${index}` })));
    const { text } = page(log);
    expect(text.match(/<tr><td>/gu)).toHaveLength(500);
    expect(text).toContain('The newest 500 of 600 events.');
  });

  test('says what is wrong with a filter, without repeating it', () => {
    const { text } = page(logOf({}), 'from=<b>');
    expect(text).toContain('from must be an RFC 3339 time');
    expect(text).not.toContain('<b>');
  });

  test('says when nothing is sent', () => {
    const request = { query: new URLSearchParams(), accept: 'text/html' };
    const { body } = viewActivity(request, logOf(), { ...target, url: null });
    expect(body.toString()).toContain('none set: nothing is sent');
  });
});
