/** What these checks read of a bill of materials (CycloneDX 1.5). */
export interface Bom {
  readonly bomFormat: string;
  readonly components: readonly BomComponent[];
}

export interface BomComponent {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly BomLicence[];
}

type BomLicence =
  | { readonly license: { readonly id?: string; readonly name?: string } }
  | { readonly expression: string };

/** Licences (SPDX) under which a library may be used in and shipped with a closed product, its notice kept. */
export const ALLOWED: readonly string[] = [
  'MIT',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
];

/** Packages (`name@version`) whose licence somebody has looked up by hand, and why it may be used. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  '@kafkajs/confluent-schema-registry@4.1.0':
    'its package.json has no field for it; its file LICENSE is the MIT licence',
};

/** Packages whose licence is none of those allowed, and exceptions that no package needs. */
export function licenceProblems(
  { bomFormat, components }: Bom,
  allowed: readonly string[],
  exceptions: Readonly<Record<string, string>>,
): readonly string[] {
  if (bomFormat !== 'CycloneDX' || components.length === 0) return ['the bill of materials is empty.'];
  const needing = components.filter(({ licenses = [] }) => !isAllowed(licenses, allowed));
  const ids = new Set(needing.map(({ name, version }) => `${name}@${version}`));
  return [
    ...needing
      .filter(({ name, version }) => !Object.hasOwn(exceptions, `${name}@${version}`))
      .map(({ name, version, licenses = [] }) => `${name}@${version}: its licence is ${textOf(licenses)}.`),
    ...Object.keys(exceptions)
      .filter((id) => !ids.has(id))
      .map((id) => `${id}: is an exception that is not needed any more.`),
  ];
}

function isAllowed(licences: readonly BomLicence[], allowed: readonly string[]): boolean {
  return (
    licences.length > 0 && licences.every((licence) => expressionOf(licence).some((all) => isSubset(all, allowed)))
  );
}

function isSubset(all: readonly string[], allowed: readonly string[]): boolean {
  return all.every((each) => allowed.includes(each));
}

/** Alternatives, each a list of licences that hold together: `(A AND B) OR C`, without deeper brackets. */
function expressionOf(licence: BomLicence): readonly (readonly string[])[] {
  const text = 'expression' in licence ? licence.expression : (licence.license.id ?? '');
  return text
    .split(/\s+OR\s+/)
    .map((part) => part.split(/\s+AND\s+/).map((each) => each.replaceAll(/[()]/g, '').trim()));
}

function textOf(licences: readonly BomLicence[]): string {
  const texts = licences.map((each) =>
    'expression' in each ? each.expression : (each.license.id ?? each.license.name ?? 'nameless'),
  );
  return texts.length === 0 ? 'not stated' : texts.join(', ');
}
