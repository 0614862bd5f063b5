import { measureGuard } from './guard.ts';

/** The figures as one line of JSON. */
console.log(JSON.stringify(await measureGuard()));
