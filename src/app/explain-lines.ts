import { type Explanation, type ExplainParts } from './explain.ts';

const OUTCOMES: Readonly<Record<Explanation['outcome'], string>> = {
  send: '✓ would be sent',
  dead_letter: '✗ would become a dead letter',
  skip: '✗ would be passed over',
  unreadable: '✗ cannot be explained',
};
const VALUE_CHARACTERS = 60;

/** An explanation as lines for people. */
export function explainLines(
  number: number,
  explanation: Explanation,
  { flow, config }: Pick<ExplainParts, 'flow' | 'config'>,
): readonly string[] {
  const { outcome, why, transId, fields, findings, request } = explanation;
  const lines = [`record ${String(number)}: ${OUTCOMES[outcome]}`];
  if (why !== null)
    lines.push(
      `  code      ${why.code}${why.detail === null ? '' : ` (${why.detail})`}`,
      `  means     ${why.means}`,
      `  mend      ${why.mend}`,
    );
  if (transId !== null) lines.push(`  trans_id  ${transId}`, `  order     ${orderOf(flow, config.scoring.ordering)}`);
  if (fields.length > 0) lines.push('', '  datapoints, and where each comes from', ...table(fields));
  if (outcome === 'send' || findings.length > 0)
    lines.push('', '  findings', ...(findings.length === 0 ? ['    none'] : findings.map((each) => `    ! ${each}`)));
  if (request !== null) {
    const headers = Object.entries(request.headers).map(([name, value]) => `    ${name}: ${value}`);
    lines.push('', '  request', `    ${request.method} ${request.url}`, ...headers, '', `    ${request.body}`);
  }
  return [...lines, ''];
}

function orderOf(flow: ExplainParts['flow'], ordering: 'key' | 'transaction'): string {
  if (flow === 'sync') return 'behind its payment, and one after the other with updates of this trans_id';
  return ordering === 'transaction'
    ? 'one after the other with payments of this trans_id'
    : "one after the other with payments of the record's key; without a key, of this trans_id";
}

function table(fields: Explanation['fields']): readonly string[] {
  const shown = fields.map(({ name, value, from }) => [name, short(JSON.stringify(value)), from] as const);
  const names = Math.max(...shown.map(([name]) => name.length));
  const values = Math.max(...shown.map(([, value]) => value.length));
  return shown.map(([name, value, from]) => `    ${name.padEnd(names)}  ${value.padEnd(values)}  ${from}`);
}

function short(text: string): string {
  return text.length > VALUE_CHARACTERS ? `${text.slice(0, VALUE_CHARACTERS)}…` : text;
}
