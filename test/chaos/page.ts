import { performance } from 'node:perf_hooks';
import { type Outcome } from './campaign.ts';
import { type Report } from './report.ts';
import { type Trend } from './slopes.ts';
import { escaped, timelineSvg } from './timeline.ts';

const STYLE = `
body { font: 15px/1.45 system-ui, sans-serif; margin: 32px auto; max-width: 1180px; color: #1d2433; background: #fff; }
h1 { font-size: 24px; margin: 0 0 4px } h2 { font-size: 17px; margin: 28px 0 8px }
.verdict { font-weight: 600; padding: 10px 14px; border-radius: 6px; margin: 14px 0 }
.good { background: #e3f4e8; color: #14532d } .bad { background: #fde4e1; color: #8b1d12 }
code { background: #f1f3f7; padding: 2px 6px; border-radius: 4px }
table { border-collapse: collapse; width: 100%; font-size: 14px } th { text-align: left; color: #59627a; font-weight: 500 }
td, th { padding: 3px 10px 3px 0; border-bottom: 1px solid #e8ebf1 } td.number { text-align: right; font-variant-numeric: tabular-nums }
tr.broken td { color: #8b1d12; font-weight: 600 }
.columns { columns: 3; column-gap: 36px; font-size: 14px } .columns div { display: flex; justify-content: space-between; border-bottom: 1px solid #eef0f5; break-inside: avoid }
svg { width: 100%; height: auto; font: 11px system-ui, sans-serif }
.fault { fill: #f0a390 } .hold { fill: #b9c8f2 } .in { fill: #2b1a16 } .lane { text-anchor: end; fill: #3a4358 } .tick, .note { fill: #7a8398 } .tick { text-anchor: middle } .tick.end { text-anchor: end }
.grid { stroke: #eceff4 } .axis { stroke: #b8bfcd } .calm { fill: #f2f8f3 }
.line { fill: none; stroke-width: 1.6 } .line.scored { stroke: #2563a8 } .line.reported { stroke: #2f9e6e } .line.lag { stroke: #b4543a }
text.scored { fill: #2563a8 } text.reported { fill: #2f9e6e } text.lag { fill: #b4543a }
`;

/** A campaign as one page that needs nothing beside itself: the verdict, a timeline, every check, every figure. */
export function reportPage(report: Report, outcome: Outcome, command: string): string {
  const breaks = Object.keys(report.broken);
  const verdict =
    breaks.length === 0
      ? '<p class="verdict good">Everything is as promised.</p>'
      : `<p class="verdict bad">Not as promised: ${escaped(breaks.join(', '))}.</p>`;
  const { span } = outcome;
  const minutes = ((span.endMs - span.startedMs) / 60_000).toFixed(1);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Chaos: ${report.scenario}</title><style>${STYLE}</style></head><body>
<h1>Fault campaign: ${report.scenario}</h1>
<p>${String(outcome.found.payments)} payments, ${String(outcome.found.statuses)} status updates and ${String(outcome.mail.webhooks)} webhooks in ${minutes} minutes. The same faults again: <code>${escaped(command)}</code></p>
${verdict}
<h2>What was done, and what it did</h2>
${timelineSvg({ ...outcome, originMs: performance.timeOrigin })}
<h2>Promises</h2>
${checksTable(report)}
<h2>Figures</h2>
${columns(report.figures)}
${slopesTable(report)}
<h2>Events of the connectors</h2>
${columns(report.events)}
</body></html>
`;
}

function checksTable({ checks }: Report): string {
  const rows = checks.map(
    ({ name, promise, found, most, isBroken }) =>
      `<tr${isBroken ? ' class="broken"' : ''}><td>${escaped(promise)}</td><td>${escaped(name)}</td><td class="number">${String(found)}</td><td class="number">${String(most)}</td></tr>`,
  );
  return `<table><tr><th>promise</th><th>figure</th><th>found</th><th>at most</th></tr>\n${rows.join('\n')}\n</table>`;
}

function slopesTable({ slopes }: Report): string {
  if (slopes.length === 0) return '';
  const rows = slopes.map(
    ({ owner, minutes, residentMegabytes, heapMegabytes, files, sockets, isRising }) =>
      `<tr${isRising ? ' class="broken"' : ''}><td>${escaped(owner)}</td><td class="number">${String(minutes)}</td>${[residentMegabytes, heapMegabytes, files, sockets].map(trendCell).join('')}</tr>`,
  );
  return `<h2>What each process took up at its end, and how that went on in its second half</h2>
<table><tr><th>process</th><th>minutes</th><th>memory, MB</th><th>heap, MB</th><th>files</th><th>sockets</th></tr>
${rows.join('\n')}
</table>`;
}

function trendCell({ perMinute, atEnd }: Trend): string {
  return `<td class="number">${String(atEnd)} (${perMinute < 0 ? '' : '+'}${String(perMinute)} a minute)</td>`;
}

function columns(figures: Readonly<Record<string, number>>): string {
  const cells = Object.entries(figures).map(
    ([name, value]) => `<div><span>${escaped(name)}</span><span>${String(value)}</span></div>`,
  );
  return `<div class="columns">${cells.join('')}</div>`;
}
