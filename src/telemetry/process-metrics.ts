import { type MetricRow } from './metric-row.ts';

/** What is worth a look of the metrics that prom-client takes of the process, by their whole names. */
export const PROCESS_METRICS: Readonly<Record<string, MetricRow>> = {
  nodejs_eventloop_lag_p99_seconds: {
    type: 'gauge',
    labels: [],
    means: 'How late timers ran at the 99th percentile, since the last look. A little over 0.01 is rest.',
    rise: 'Above 0.2: the process has more to do than one core gives. Start another process; heartbeats and webhooks come late by as much.',
  },
  nodejs_eventloop_lag_max_seconds: {
    type: 'gauge',
    labels: [],
    means: 'The latest that a timer ran since the last look.',
    rise: 'Seconds: the process was stopped (a frozen container, a debugger, swapping).',
  },
  nodejs_heap_size_used_bytes: {
    type: 'gauge',
    labels: [],
    means: "Memory of JavaScript's objects.",
    rise: 'It goes up and down with each collection. A floor that rises for hours: report it, with what `/status` shows as buffered.',
  },
  nodejs_heap_size_total_bytes: {
    type: 'gauge',
    labels: [],
    means: 'Memory that is set aside for them.',
    rise: 'Above 80 % of the limit (`--max-old-space-size`, the container): lower BUFFER_MAX_BYTES or give more memory.',
  },
  nodejs_external_memory_bytes: {
    type: 'gauge',
    labels: [],
    means: 'Memory of buffers beside the heap: record values, bodies.',
    rise: 'It follows BUFFER_MAX_BYTES for each flow and the bodies in flight.',
  },
  nodejs_gc_duration_seconds: {
    type: 'histogram',
    labels: ['kind'],
    means: 'Pauses by garbage collection, by kind: `minor`, `major`, `incremental`, `weakcb`.',
    rise: 'Long or many `major` ones: memory is short, see `nodejs_heap_size_total_bytes`.',
  },
  nodejs_active_resources: {
    type: 'gauge',
    labels: ['type'],
    means: 'Sockets, timers and files that are open, by type.',
    rise: 'A rise without end is a leak: report it.',
  },
  process_cpu_seconds_total: {
    type: 'counter',
    labels: [],
    means: 'CPU time of the process, system and user.',
    rise: 'Its rate near 1: one core is full, start another process (docs/performance.md has the cost of a record).',
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    labels: [],
    means: 'Memory of the process as the machine sees it.',
    rise: 'Compare the limit of the container; at the limit the machine ends the process without a word.',
  },
  process_open_fds: {
    type: 'gauge',
    labels: [],
    means: 'Open file descriptors: connections above all. Linux only.',
    rise: 'Near `process_max_fds`: webhooks and calls fail. Raise the limit (`ulimit -n`) to 4096 or more.',
  },
  process_max_fds: {
    type: 'gauge',
    labels: [],
    means: 'The most that may be open. Linux only.',
    rise: 'It is the limit of the process, and does not rise.',
  },
  process_start_time_seconds: {
    type: 'gauge',
    labels: [],
    means: 'When the process started, in seconds since 1970.',
    rise: 'A rise is a restart. Again and again: look at the last log line, `fatal` says why.',
  },
};
