import { type StatusLine } from '../../edges/system/status-line.ts';
import { type Terminal } from '../../edges/system/terminal.ts';
import { type Config } from '../../config/config.ts';
import { type Clock } from '../../kernel/clock.ts';
import { type Emit, type EventFields } from '../../kernel/emit.ts';
import { levelOf } from '../../telemetry/events.ts';
import { createLog } from '../../telemetry/log.ts';

export interface VoiceParts {
  readonly terminal: Pick<Terminal, 'say' | 'complain'>;
  readonly clock: Clock;
  readonly config: Pick<Config, 'account' | 'logLevel'>;
  /** Null: standard error is no terminal. */
  readonly statusLine: StatusLine | null;
}

/** How a command that sends records again speaks: its result on standard output, all else on standard error. */
export interface Voice {
  readonly emit: Emit;
  /** The audit line, whatever LOG_LEVEL says. */
  readonly audit: (fields: EventFields['audit']) => void;
  /** To standard error. */
  readonly note: (line: string) => void;
  /** To standard output. */
  readonly say: (line: string) => void;
}

/** Under a bar only warnings and what is worse are logged; elsewhere what LOG_LEVEL says. */
export function createVoice({ terminal, clock, config, statusLine }: VoiceParts): Voice {
  const note = (line: string): void => {
    statusLine?.hide();
    terminal.complain(line);
  };
  const write = (line: string): void => {
    note(line.trimEnd());
  };
  const base = { account: config.account };
  const log = createLog({ level: config.logLevel, clock, base, write });
  const auditLog = createLog({ level: 'info', clock, base, write });
  return {
    emit: (event, fields) => {
      const level = levelOf(event, fields);
      if (statusLine === null || (level !== 'debug' && level !== 'info')) log(event, fields);
    },
    audit: (fields) => {
      auditLog('audit', fields);
    },
    note,
    say: (line) => {
      statusLine?.hide();
      terminal.say(line);
    },
  };
}
