import { measureMetrics } from './metrics-cost.ts';

/** `with` or `without`, the service's address and the number of payments by argument; the figures as one line of JSON. */
const [how = 'with', serviceUrl = '', records = '1000'] = process.argv.slice(2);
console.log(JSON.stringify(await measureMetrics(how === 'with', serviceUrl, Number(records))));
