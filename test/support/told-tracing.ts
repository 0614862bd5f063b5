import { readTraceContext, type TraceContext } from '../../src/kernel/trace-context.ts';
import { type Tracing } from '../../src/kernel/tracing.ts';

/** Tracing that keeps what it is told, as lines; the context of each span ends with its number. */
export class ToldTracing implements Tracing {
  readonly told: string[] = [];
  /** Those of batches. */
  readonly linked: (readonly (TraceContext | null)[])[] = [];
  #spans = 0;

  readonly record: Tracing['record'] = (flow, { topic, partition, offset, headers }) => {
    const tracestate = readTraceContext(headers)?.tracestate ?? null;
    const name = `${topic}/${String(partition)}/${String(offset)}`;
    this.told.push(`${flow} ${name}`);
    let ended = false;
    return {
      context: this.#next(tracestate),
      call: (attempt) => this.#call(`${name} call ${String(attempt)}`, tracestate),
      send: (to) => ({
        context: this.#next(tracestate),
        end: (how) => this.told.push(`${name} send ${to} ${how.do}`),
      }),
      wait: (why) => this.told.push(`${name} wait ${why}`),
      end: (how) => {
        if (ended) return;
        ended = true;
        const reason = 'reason' in how ? ` ${how.reason}` : '';
        this.told.push(`${name} ${how.outcome}${reason} ${String(how.attempts)}`);
      },
    };
  };

  readonly batch: Tracing['batch'] = (updates) => {
    this.linked.push(updates);
    return this.#call('batch', null);
  };

  readonly webhook: Tracing['webhook'] = (sender) => {
    this.told.push(`webhook from ${sender === null ? 'nowhere' : 'somewhere'}`);
    return {
      send: (to) => ({ context: this.#next(null), end: (how) => this.told.push(`webhook send ${to} ${how.do}`) }),
      end: (result, status) => this.told.push(`webhook ${result} ${String(status)}`),
    };
  };

  #call(name: string, tracestate: string | null): ReturnType<Tracing['batch']> {
    return {
      context: this.#next(tracestate),
      end: ({ status, error }) => this.told.push(`${name} ${String(status)} ${String(error)}`),
    };
  }

  #next(tracestate: string | null): TraceContext {
    this.#spans += 1;
    return { traceparent: toldParent(this.#spans), tracestate };
  }
}

/** What a span's number looks like in a header. */
export function toldParent(span: number): string {
  return `00-${'a'.repeat(32)}-${span.toString(16).padStart(16, '0')}-01`;
}
