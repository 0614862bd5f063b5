import { withDerived } from './config.ts';
import { type RunnableFlow } from './kinds.ts';
import { OPTION_NAMES, OPTIONS, type OptionName, type Values } from './options.ts';
import { type ConfigSource, readValues } from './read.ts';

function shown<N extends OptionName>(name: N, value: Values[N]): string {
  return OPTIONS[name].show(value);
}

/** The effective options, one `NAME=value` a line with where it comes from; secrets only as "(set)". Wrong ones say so. */
export function printConfig(source: ConfigSource): string {
  const { values, origins, refused } = readValues(source);
  const complete = withDerived(values);
  const lines = OPTION_NAMES.map((name) => {
    const value = `${name}=${shown(name, complete[name])}`;
    return refused.has(name) ? `${value}  # WRONG ${refused.get(name) ?? ''}` : `${value}  # ${origins[name]}`;
  });
  return `${lines.join('\n')}\n`;
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

/** A `.env` with every option and its default commented out, and what is required left to fill in. */
export function envTemplate(): string {
  const blocks = OPTION_NAMES.map((name) => {
    const { neededBy, doc, accepts, absent } = OPTIONS[name];
    const line = neededBy.length > 0 ? `${name}=` : `# ${name}=${absent === null ? '' : defaultText(name)}`;
    const comment = [`# ${doc}`, `# Give ${accepts}.${neededBy.length > 0 ? ` It is ${needs(neededBy)}.` : ''}`];
    return [...comment, line].join('\n').replaceAll('`', '');
  });
  return `${blocks.join('\n\n')}\n`;
}

function defaultText(name: OptionName): string {
  const { shownDefault } = OPTIONS[name];
  return shownDefault === 'none' ? '' : shownDefault;
}
