/** How Grafana's units are written on an axis. */
type Unit = 'none' | 'short' | 's' | 'rps' | 'bytes' | 'percentunit';

const plain = (value: number): string => {
  if (value === 0) return '0';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return String(Number(value.toFixed(digits)));
};

function short(value: number): string {
  if (Math.abs(value) >= 1e6) return `${plain(value / 1e6)} M`;
  return Math.abs(value) >= 1e4 ? `${plain(value / 1e3)} k` : plain(value);
}

function seconds(value: number): string {
  if (value !== 0 && Math.abs(value) < 1) return `${plain(value * 1000)} ms`;
  return Math.abs(value) >= 120 ? `${plain(value / 60)} min` : `${plain(value)} s`;
}

/** A value as a person reads it, with its unit. */
export function shown(value: number, unit: string): string {
  const of: Readonly<Record<Unit, (value: number) => string>> = {
    none: plain,
    short,
    s: seconds,
    rps: (each) => `${short(each)}/s`,
    bytes: (each) => `${plain(each / 1_048_576)} MiB`,
    percentunit: (each) => `${plain(each * 100)} %`,
  };
  return (of[unit as Unit] ?? short)(value);
}

const ROUND_SECONDS = [30, 60, 120, 300, 600, 1200, 1800, 3600, 7200];
const ROUND_BYTES = [64, 128, 256, 512, 1024, 2048, 4096].map((mebibytes) => mebibytes * 1_048_576);

/** The least number that is not below and is easily read: 1, 2, 4, 5 or 8 times a power of ten, minutes, powers of two. */
export function roundUp(value: number, unit: string): number {
  if (value <= 0) return 1;
  const round = unit === 's' && value > 10 ? ROUND_SECONDS : unit === 'bytes' ? ROUND_BYTES : [];
  const power = 10 ** Math.floor(Math.log10(value));
  const plainly = ([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) * power;
  return round.find((each) => each >= value) ?? plainly;
}

/** Minutes and seconds. */
export function clockOf(secondsSince: number): string {
  return `${String(Math.floor(secondsSince / 60))}:${String(Math.round(secondsSince % 60)).padStart(2, '0')}`;
}
