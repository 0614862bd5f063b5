import { measureMetrics } from './metrics-cost.ts';

/** The service's address, pairs of slices, seconds of each and `scores` or `plain` by argument; the slices as one line of JSON. */
const [serviceUrl = '', pairs = '10', seconds = '1', how = 'plain'] = process.argv.slice(2);
const plan = { serviceUrl, pairs: Number(pairs), sliceSeconds: Number(seconds), scores: how === 'scores' };
console.log(JSON.stringify(await measureMetrics(plan)));
process.exit(0);
