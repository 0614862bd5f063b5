import { shareOf } from './chance.ts';
import { idOf, type JsonObject } from './json.ts';
import { type Judgement, RULES } from './rules.ts';
import { type Settings } from './settings.ts';
import { type ValidationError } from './validation.ts';

export interface Scored {
  readonly frgTransId: string;
  readonly transaction: JsonObject;
  readonly judgement: Judgement;
  readonly errors: readonly ValidationError[];
}

/** The body of an answer to a scoring, in the spec's field names (Transaction response). */
export function scoredBody({ frgTransId, transaction, judgement, errors }: Scored, settings: Settings): string {
  const { decision, score, isLiable, liabilityReason, signals } = judgement;
  return JSON.stringify({
    frg_trans_id: frgTransId,
    fraugster_approved: decision,
    score,
    is_liable: isLiable,
    liability_reason: liabilityReason,
    validation: errors.length === 0 ? { ok: true } : { ok: false, errors },
    evidence: { signals },
    frg_device_id: deviceOf(transaction),
    ...(settings.optInFeatures ? { exemption_advice: adviceOf(judgement) } : {}),
    ...(settings.ruleHits ? { rule_hits: hitsOf(judgement) } : {}),
  });
}

/** The exemptions to ask for: the spec speaks of such advice, several at once, and does not show it. */
function adviceOf({ decision, score, euros }: Judgement): readonly string[] {
  if (decision !== 1) return [];
  return [...(euros !== null && euros <= 30 ? ['low_value'] : []), ...(score < 0.1 ? ['low_risk'] : [])];
}

function hitsOf({ signals }: Judgement): readonly object[] {
  const ids = new Set(signals.map(({ id }) => id));
  return RULES.filter(({ id }) => ids.has(id)).map(({ id, points }) => ({ rule_id: id, points }));
}

/** One device for one `device_id_mapped`, else for one address; empty when there is neither. */
function deviceOf(transaction: JsonObject): string {
  const mark = idOf(transaction['device_id_mapped']) ?? idOf(transaction['ip']);
  return mark === null
    ? ''
    : `dev-${Math.floor(shareOf(mark, 7) * 2 ** 32)
        .toString(16)
        .padStart(8, '0')}`;
}
