/** Names under which verification values and track data are usually kept (PCI DSS, requirement 3.3: never stored after authorization). */

/** As compared: lower case, without `_`, `-`, `.` and spaces. */
const VERIFICATION_NAMES: readonly string[] = [
  'cvv',
  'cvv2',
  'cvc',
  'cvc2',
  'cvn',
  'cvn2',
  'cvd',
  'cvd2',
  'cid',
  'csc',
  'cav2',
  'icvv',
  'cardcvv',
  'cardcvv2',
  'cardcvc',
  'cardcvc2',
  'cardcvn',
  'cardcsc',
  'cardcid',
  'cccvv',
  'cccvv2',
  'cccvc',
  'cccvc2',
  'cccid',
  'cccsc',
  'cvvcode',
  'cvccode',
  'cvvnumber',
  'cvcnumber',
  'securitycode',
  'cardsecuritycode',
  'ccsecuritycode',
  'cardverification',
  'cardverificationvalue',
  'cardverificationcode',
  'cardverificationnumber',
  'cardverificationdata',
  'ccverification',
  'ccverificationvalue',
  'ccverificationcode',
];

const TRACK_NAMES: readonly string[] = [
  'track1',
  'track2',
  'track3',
  'track1data',
  'track2data',
  'track3data',
  'trackdata',
  'cardtrack',
  'cardtrackdata',
  'track2equivalentdata',
  'magstripe',
  'magstripedata',
  'magneticstripe',
  'magneticstripedata',
  'cardmagstripe',
];

export type NameKind = 'verification_value' | 'track_data';

const KINDS: ReadonlyMap<string, NameKind> = new Map<string, NameKind>([
  ...VERIFICATION_NAMES.map((name) => [name, 'verification_value'] as const),
  ...TRACK_NAMES.map((name) => [name, 'track_data'] as const),
]);

const LONGEST = 40;

/** What a field of this name holds, going by the name; null: nothing that must not be there. */
export function kindOfName(name: string): NameKind | null {
  return name.length > LONGEST ? null : (KINDS.get(name.toLowerCase().replaceAll(/[-_. ]/g, '')) ?? null);
}

/**
 * The beginnings of all these names behind a quote, and any escape, which could hide one. Each letter is followed by
 * separators that are none of the letters, so nothing is tried twice.
 */
const MAY_BE_NAMED =
  /\\u|"[-_. ]*(?:c[-_. ]*(?:v[-_. ]*[vcnd]|i[-_. ]*d|s[-_. ]*c|a[-_. ]*v|a[-_. ]*r[-_. ]*d[-_. ]*[cvstm]|c[-_. ]*[cvs])|i[-_. ]*c[-_. ]*v|s[-_. ]*e[-_. ]*c|t[-_. ]*r[-_. ]*a[-_. ]*c|m[-_. ]*a[-_. ]*g)/i;

/** Whether a JSON text may have a field of such a name: true where it has one, false for nearly all others. */
export function mayHoldKnownName(json: string): boolean {
  return MAY_BE_NAMED.test(json);
}
