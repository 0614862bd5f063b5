import { type Config } from '../config/config.ts';
import { type EnvFile, parseEnvFile } from '../config/env-file.ts';
import { loadConfig } from '../config/load.ts';
import { type ConfigSource } from '../config/read.ts';
import { readTextFile } from '../edges/system/files.ts';
import { Fault, nameOf } from '../kernel/fault.ts';
import { type CliTerminal } from './cli.ts';

/** The configuration of the environment and of `--env-file`; warnings go to standard error. Throws `CONFIG_INVALID`. */
export function readConfig(terminal: CliTerminal, how: Pick<ConfigSource, 'flows' | 'requires'> = {}): Config {
  const { config, warnings } = loadConfig(configSource(terminal, how));
  for (const warning of warnings) terminal.complain(`warning: ${warning}`);
  return config;
}

/** Where a command's options come from. Throws `CONFIG_INVALID` where the file of `--env-file` cannot be read. */
export function configSource(terminal: CliTerminal, how: Pick<ConfigSource, 'flows' | 'requires'> = {}): ConfigSource {
  const path = terminal.envFile();
  return {
    env: terminal.env,
    readFile: readTextFile,
    ...(path === undefined ? {} : { envFile: readEnvFile(path) }),
    ...how,
  };
}

function readEnvFile(path: string): EnvFile {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    throw new Fault(
      'CONFIG_INVALID',
      `--env-file: the file ${JSON.stringify(path)} cannot be read (${nameOf(error)}).`,
    );
  }
  return parseEnvFile(path, text);
}
