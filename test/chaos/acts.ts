import { type IllName } from './ills.ts';

/** Where a wire of a connector leads. `coordinator`: to the node that coordinates its group then; `node`: to one that leads partitions then. */
export type WireEnd = 'coordinator' | 'node' | 'registry' | 'service';

/** What befalls a wire. `forgotten`: half-open, only the far side knows that the connection is gone. */
export type WireFault = 'silent' | 'cut' | 'slow' | 'forgotten';

/** How little a connector is given: 48 open files, or a heap of 40 MB. */
export type Cramp = 'few_files' | 'small_heap';

/** One thing that is done. Connectors and nodes are numbered from 1. */
export type Act =
  | { readonly do: 'start'; readonly connector: number }
  /** SIGTERM, and its end is waited for. */
  | { readonly do: 'stop'; readonly connector: number }
  /** SIGTERM, and a start `downMs` after its end. */
  | { readonly do: 'restart'; readonly connector: number; readonly downMs: number }
  /** Every connector that runs is stopped and started, one after the other. */
  | { readonly do: 'roll' }
  /** SIGKILL, and a start `downMs` after. */
  | { readonly do: 'kill'; readonly connector: number; readonly downMs: number }
  /** SIGSTOP, and SIGCONT `forMs` after. */
  | { readonly do: 'freeze'; readonly connector: number; readonly forMs: number }
  /**
   * The next payment that is asked about gets no good answer for `forMs`. When enough has finished above it, and `phaseMs`
   * later, SIGKILL of the connector that works on its partition, and a start `downMs` after.
   */
  | { readonly do: 'stick'; readonly forMs: number; readonly phaseMs: number; readonly downMs: number }
  /** SIGKILL of a node, of those that lead partitions then the first, second or third, and a start `downMs` after. */
  | { readonly do: 'kill_node'; readonly node: number; readonly downMs: number }
  /** SIGKILL of the node that coordinates the group, and a start `downMs` after. */
  | { readonly do: 'kill_coordinator'; readonly downMs: number }
  /** The wire of one connector to one neighbour. `node`: of those that lead partitions then the first, second or third. */
  | {
      readonly do: 'wire';
      readonly connector: number;
      readonly to: WireEnd;
      readonly node: number;
      readonly fault: WireFault;
      readonly forMs: number;
    }
  /** A connector is stopped, no one reaches the registry, and it is started again. */
  | { readonly do: 'registry_away'; readonly connector: number; readonly forMs: number }
  /** The service, or its login, does something wrong. */
  | { readonly do: 'ill'; readonly ill: IllName; readonly forMs: number }
  /** The clock of a connector goes wrong by so much, and is set right after `forMs`. */
  | { readonly do: 'jump'; readonly connector: number; readonly byMs: number; readonly forMs: number }
  /** A connector is started anew with too little, and as usual after `forMs`. */
  | { readonly do: 'cramp'; readonly connector: number; readonly with: Cramp; readonly forMs: number }
  /** So many webhooks a second, every second one of them forged. */
  | { readonly do: 'flood'; readonly perSecond: number; readonly forMs: number }
  /** Every status of what was sold so far is sent again by `replay`, beside the live traffic. */
  | { readonly do: 'replay' }
  /** Both topics get so many partitions more. */
  | { readonly do: 'grow'; readonly by: number }
  /** While no connector reads, all that is in a partition of payments is deleted. */
  | { readonly do: 'erase'; readonly partition: number }
  /** While no connector reads, the group's commits get the maps of another cluster beside them. */
  | { readonly do: 'mirror' };

export type ActName = Act['do'];

/** To whom it is done: what befalls the same target waits for what is being done to it. */
export function targetOf(act: Act): string {
  switch (act.do) {
    case 'kill_node':
    case 'kill_coordinator':
      return 'nodes';
    case 'ill':
    case 'stick':
      return 'service';
    case 'registry_away':
      return 'registry';
    case 'flood':
      return 'webhooks';
    case 'grow':
    case 'erase':
    case 'mirror':
    case 'replay':
      return 'topics';
    case 'roll':
      return 'all connectors';
    case 'wire':
      return `wires of ${String(act.connector)}`;
    default:
      return `connector ${String(act.connector)}`;
  }
}

/** What is done, for people. */
export function nameOfAct(act: Act): string {
  switch (act.do) {
    case 'wire':
      return `wire to ${act.to} ${act.fault}`;
    case 'ill':
      return act.ill;
    case 'cramp':
      return act.with;
    case 'jump':
      return `clock ${act.byMs > 0 ? '+' : '-'}${String(Math.abs(act.byMs) / 3_600_000)} h`;
    default:
      return act.do;
  }
}
