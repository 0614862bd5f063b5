import { type Failure, type Outcome } from './campaign.ts';

/** What a campaign came to, for people. */
export function reportLines(seed: number, outcome: Outcome): readonly string[] {
  const { requests, connections, seconds, answers, results, written, heapMb, kinds, failures, faults } = outcome;
  const perSecond = Math.round(requests / Math.max(seconds, 0.001));
  return [
    `${String(requests)} requests on ${String(connections)} connections in ${seconds.toFixed(1)} s: ${String(perSecond)} a second`,
    `answers: ${countsOf(answers)}`,
    `counted: ${countsOf(results)}`,
    `written: ${String(written)}, each signed by its sender`,
    `heap: ${String(heapMb.at(0) ?? 0)} to ${String(heapMb.at(-1) ?? 0)} MB, at most ${String(Math.max(0, ...heapMb))} MB`,
    `kinds: ${String(Object.keys(kinds).length)}`,
    ...faults.map((fault) => `FAULT ${fault}`),
    ...failures.map((failure) => `FAILURE ${failureLine(failure)}`),
    ...failures
      .slice(0, 1)
      .map(({ index }) => `again: npm run fuzz -- --seed ${String(seed)} --from ${String(index)} --only`),
    faults.length + failures.length === 0 ? 'Nothing was found.' : 'Something was found.',
  ];
}

function failureLine({ index, kind, what, statuses, bytes }: Failure): string {
  const text = JSON.stringify(Buffer.from(bytes, 'base64').toString('latin1')).slice(0, 2000);
  return `connection ${String(index)} (${kind}): ${what.join('; ')}; answers ${statuses.join(' ')}; sent ${text}`;
}

function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${String(count)}`)
    .join(', ');
}
