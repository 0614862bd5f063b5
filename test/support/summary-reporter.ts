import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';
import type { SerializedError } from 'vitest';

/** Prints `N passed, N failed` alone on the very last line, after coverage. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: TestRunEndReason): void {
    let passed = 0,
      failed = 0,
      skipped = 0;
    for (const m of modules) {
      for (const t of m.children.allTests()) {
        const s = t.result().state;
        if (s === 'passed') passed += 1;
        else if (s === 'failed') failed += 1;
        else skipped += 1;
      }
      // a file that failed to load or whose hook failed has no failed test of its own
      if (m.state() === 'failed' && ![...m.children.allTests('failed')].length) failed += 1;
    }
    failed += errors.length;
    if (reason === 'interrupted' && failed === 0) failed = 1;
    const line = `${String(passed)} passed, ${String(failed)} failed${skipped > 0 ? `, ${String(skipped)} skipped` : ''}`;
    process.once('exit', () => {
      process.stdout.write(`\n${line}\n`);
    });
  }
}
