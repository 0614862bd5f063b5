import { measureEngine } from './engine-alone.ts';

/** Partitions, keys and records by argument; the figures as one line of JSON. */
const [partitions = 1, keys = 1, records = 1] = process.argv.slice(2).map(Number);
console.log(JSON.stringify(await measureEngine(partitions, keys, records)));
