/**
 * Hurts a process at SIGUSR2, as a defect would: `--import …/hurt.ts?by=throw&text=TEXT` throws where nothing catches it,
 * `by=reject` rejects where nobody waits. The text is that of the error.
 */
const { searchParams } = new URL(import.meta.url);
const error = new TypeError(searchParams.get('text') ?? '');

process.on('SIGUSR2', () => {
  if (searchParams.get('by') === 'reject') void Promise.reject(error);
  else
    setImmediate(() => {
      throw error;
    });
});
