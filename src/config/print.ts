import { withDerived } from './config.ts';
import { type RunnableFlow } from './kinds.ts';
import { judgeConfig } from './load.ts';
import { OPTION_NAMES, OPTIONS } from './options.ts';
import { type ConfigSource, type Origin } from './read.ts';
import { type OptionName, type Values } from './values.ts';

function shown<N extends OptionName>(name: N, value: Values[N]): string {
  return OPTIONS[name].show(value);
}

/** One option as it is in effect. */
export interface ShownOption {
  readonly name: OptionName;
  /** As text; of a secret only whether it is set. Where `origin` is `wrong`: the default. */
  readonly value: string;
  readonly origin: Origin | 'wrong';
}

/** A configuration as a person may see it. */
export interface ShownConfig {
  readonly options: readonly ShownOption[];
  /** Empty: it can be run with. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** The effective options in the order of the table, and what is wrong with them; holds no secret. */
export function showConfig(source: ConfigSource): ShownConfig {
  const { read, problems, warnings } = judgeConfig(source);
  const { values, origins, refused } = read;
  const complete = withDerived(values);
  const options = OPTION_NAMES.map((name): ShownOption => {
    const origin = refused.has(name) ? 'wrong' : origins[name];
    return { name, value: shown(name, complete[name]), origin };
  });
  return { options, problems, warnings };
}

/** One line an option: name, where its value comes from, value. */
export function printConfig({ options }: ShownConfig): readonly string[] {
  const nameWidth = Math.max(...options.map(({ name }) => name.length));
  const originWidth = Math.max(...options.map(({ origin }) => origin.length));
  return options.map(({ name, origin, value }) =>
    `${name.padEnd(nameWidth)}  ${origin.padEnd(originWidth)}  ${value}`.trimEnd(),
  );
}

function needs(neededBy: readonly RunnableFlow[]): string {
  return neededBy.length === 3 ? 'required' : `required by ${neededBy.join(', ')}`;
}

function defaultOf(name: OptionName): string {
  const { neededBy, shownDefault } = OPTIONS[name];
  if (neededBy.length > 0) return needs(neededBy);
  return shownDefault === 'none' || shownDefault.includes('`') ? shownDefault : `\`${shownDefault}\``;
}

/** The table of options in Markdown. */
export function optionTable(): string {
  const rows = OPTION_NAMES.map((name) => {
    const { accepts, doc, secret } = OPTIONS[name];
    const names = secret ? `\`${name}\` or \`${name}_FILE\`` : `\`${name}\``;
    return `| ${names} | ${defaultOf(name)} | ${accepts} | ${doc} |`;
  });
  return ['| name | default | accepts | |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}

const TEMPLATE_HEAD = `# Options of fraud-connector: fill in what is required, and uncomment what is to differ from its default.
# Use it with: fraud-connector run --env-file FILE
# Quotes are optional; nothing is expanded, a $ is a $. Variables of the environment win over this file.`;

/** A `.env` with every option and its default commented out, and what is required left to fill in. */
export function envTemplate(): string {
  const blocks = OPTION_NAMES.map((name) => {
    const { neededBy, doc, accepts, absent, secret } = OPTIONS[name];
    const line = neededBy.length > 0 ? `${name}=` : `# ${name}=${absent === null ? '' : defaultText(name)}`;
    const needed = neededBy.length > 0 ? ` It is ${needs(neededBy)}.` : '';
    const file = secret ? [`# Or name a file that holds it, read again when it changes: ${name}_FILE=`] : [];
    return [`# ${doc}`, `# Give ${accepts}.${needed}`, ...file, line].join('\n').replaceAll('`', '');
  });
  return `${[TEMPLATE_HEAD, ...blocks].join('\n\n')}\n`;
}

function defaultText(name: OptionName): string {
  const { shownDefault } = OPTIONS[name];
  return shownDefault === 'none' ? '' : shownDefault;
}
