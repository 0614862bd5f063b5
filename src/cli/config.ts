import { type Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { type ConfigSource } from '../config/read.ts';
import { readTextFile } from '../edges/system/files.ts';
import { type Terminal } from '../edges/system/terminal.ts';

/** The configuration of the environment; warnings go to standard error. Throws `CONFIG_INVALID`. */
export function readConfig(terminal: Terminal, how: Pick<ConfigSource, 'flows' | 'requires'> = {}): Config {
  const { config, warnings } = loadConfig({ env: terminal.env, readFile: readTextFile, ...how });
  for (const warning of warnings) terminal.complain(`warning: ${warning}`);
  return config;
}
