import { isUtf8 } from 'node:buffer';

/** What a terminal would obey, hide or show out of order, and what stands for nothing. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
const HEX_BYTES = 32;
const MOST_CHARACTERS = 600;

/** A text of anybody's as one line that a terminal shows as it is: what it would not show is written as `\u{…}`. */
export function printable(text: string): string {
  const cut = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  return cut
    .toWellFormed()
    .replaceAll(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same of bytes; those that are no text in hexadecimal digits. */
export function printableBytes(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return printable(Buffer.from(bytes).toString('utf8'));
  const hex = Buffer.from(bytes.subarray(0, HEX_BYTES)).toString('hex');
  return `0x${hex}${bytes.length > HEX_BYTES ? '…' : ''}`;
}
