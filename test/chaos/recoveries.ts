import { type Act } from './acts.ts';
import { type LogLine } from './log-lines.ts';
import { type Plan } from './schedule.ts';

/** A way out of a fault, and how often a connector said that it took it. */
export interface Recovery {
  readonly name: string;
  readonly times: number;
}

const event =
  (name: string, fields: Readonly<Record<string, string>> = {}) =>
  (line: LogLine): boolean =>
    line.event === name && Object.entries(fields).every(([field, value]) => line.fields[field] === value);

const hold = (cause: string): ((line: LogLine) => boolean) => event('hold_started', { cause });

/** For a kind of fault, what connectors say when it befalls them. */
const WAYS: readonly {
  readonly name: string;
  readonly of: (act: Act) => boolean;
  readonly isTaken: (line: LogLine) => boolean;
}[] = [
  {
    name: 'hold service_down',
    of: (act) => act.do === 'ill' && ['unavailable', 'never_answers', 'refuses_connections'].includes(act.ill),
    isTaken: hold('service_down'),
  },
  {
    name: 'hold service_refuses',
    of: (act) => act.do === 'ill' && ['wrong_place', 'page_of_a_proxy'].includes(act.ill),
    isTaken: hold('service_refuses'),
  },
  {
    // After tokens have been refused thrice a connector logs in once a minute, and may meet no refusal of a login.
    name: 'hold credentials_refused or sessions_displace_each_other',
    of: (act) => act.do === 'ill' && act.ill === 'logins_refused',
    isTaken: (line) => hold('credentials_refused')(line) || hold('sessions_displace_each_other')(line),
  },
  {
    name: 'login failed or hold sessions_displace_each_other',
    of: (act) => act.do === 'ill' && act.ill === 'logins_fail',
    isTaken: (line) => event('login', { result: 'failed' })(line) || hold('sessions_displace_each_other')(line),
  },
  {
    name: 'EMFILE',
    of: (act) => act.do === 'cramp' && act.with === 'few_files',
    isTaken: ({ fields }) => String(fields['error']).includes('EMFILE'),
  },
  { name: 'hold registry', of: ({ do: what }) => what === 'registry_away', isTaken: hold('registry') },
  { name: 'offset_gap', of: ({ do: what }) => what === 'erase', isTaken: event('offset_gap', { why: 'expired' }) },
  {
    name: 'offset_map_ignored',
    of: ({ do: what }) => what === 'mirror',
    isTaken: event('offset_map_ignored', { why: 'mirrored' }),
  },
  {
    name: 'commit_failed',
    of: (act) => act.do === 'wire' && act.to === 'coordinator' && act.fault === 'silent',
    isTaken: event('commit_failed'),
  },
  { name: 'partitions_assigned', of: ({ do: what }) => what !== 'ill', isTaken: event('partitions_assigned') },
];

/** The ways out that the faults of a plan call for. */
export function recoveriesOf({ steps }: Plan, log: readonly LogLine[]): readonly Recovery[] {
  return WAYS.filter(({ of }) => steps.some(({ act }) => of(act))).map(({ name, isTaken }) => ({
    name,
    times: log.filter(isTaken).length,
  }));
}
