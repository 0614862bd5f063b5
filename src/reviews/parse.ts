import { EVENT_FIELDS, REVIEW_FIELDS, type Review, toReview } from '../screening/review.ts';
import { membersOf } from '../screening/members.ts';
import { type VerifiedWebhook } from './verify.ts';

export type WebhookReading =
  /** `extra`: JSON text of the fields that are not the review's: those of `data` by name, those beside `data` under `$body`. */
  | { readonly do: 'review'; readonly review: Review; readonly extra: string }
  /** An object, but not an event this version knows; `field` is a JSON pointer. */
  | { readonly do: 'unrecognised'; readonly field: string }
  | { readonly do: 'not_an_object' };

/** Holds fields of the event that stood beside `data`. */
const BESIDE_DATA = '$body';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What an authentic body says. Never throws, whatever the nesting and the names of fields. */
export function parseWebhook(webhook: VerifiedWebhook): WebhookReading {
  return readEvent(webhook.body);
}

/** As `parseWebhook`, for bytes of any origin. */
export function readEvent(body: Uint8Array): WebhookReading {
  const text = textOf(body);
  const event = text === null ? undefined : jsonOf(text);
  if (text === null || typeof event !== 'object' || event === null || Array.isArray(event))
    return { do: 'not_an_object' };
  const reading = toReview(event);
  return reading.do === 'review' ? { ...reading, extra: hasExtra(event) ? extraOf(text) : '{}' } : reading;
}

function textOf(body: Uint8Array): string | null {
  try {
    return utf8.decode(body);
  } catch {
    return null;
  }
}

/** V8's parser keeps its own stack, so nesting cannot overflow ours. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether there is a field at all that is not the review's; most often there is none, and the text need not be read again. */
function hasExtra(event: object): boolean {
  const { data } = event as { readonly data: object };
  return (
    Object.keys(event).some((name) => !EVENT_FIELDS.has(name)) ||
    Object.keys(data).some((name) => !REVIEW_FIELDS.has(name))
  );
}

function extraOf(text: string): string {
  const event = membersOf(text);
  const beside = unknownOf(event, EVENT_FIELDS);
  const extra = unknownOf(membersOf(event.get('data') ?? '{}'), REVIEW_FIELDS);
  if (beside.size > 0) extra.set(BESIDE_DATA, objectText(beside));
  return objectText(extra);
}

function unknownOf(members: ReadonlyMap<string, string>, known: ReadonlySet<string>): Map<string, string> {
  const unknown = new Map<string, string>();
  for (const [name, text] of members) if (!known.has(name)) unknown.set(name, text);
  return unknown;
}

function objectText(members: ReadonlyMap<string, string>): string {
  return `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
