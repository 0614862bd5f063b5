import { type Config } from '../../config/config.ts';
import { type StatusLine } from '../../edges/system/status-line.ts';
import { type Terminal } from '../../edges/system/terminal.ts';
import { type Clock, type Draw } from '../../kernel/clock.ts';
import { type StopRequest } from '../../lifecycle/stop-request.ts';
import { type Mapping } from '../../mapping/mapper.ts';
import { type Voice } from './voice.ts';

/** What a command that sends records again is given, beside its own arguments. */
export interface SendingAgain {
  readonly config: Config;
  /** Compiled from `config.mapping`. */
  readonly mapping: Mapping;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly draw: Draw;
  /** Where a bar is drawn; null: progress is said as JSON lines. */
  readonly bar: { readonly line: StatusLine; readonly colour: boolean } | null;
}

/** Lets the first signal ask for a stop and the second one end the process. Answers what ends the listening. */
export function heedSignals(
  terminal: Pick<Terminal, 'onStop' | 'exit'>,
  stop: StopRequest,
  voice: Pick<Voice, 'note'>,
): () => void {
  return terminal.onStop((signal) => {
    if (!stop.ask(signal)) terminal.exit(1);
    voice.note('Stopping: what is under way may end. Once more ends it at once.');
  });
}
